/** An auction: raise by a button, type a total, or leave. */
import { html, useState } from "./ui.js";
import { Who } from "./token.js";
import { money } from "./words.js";

/** Raises, and the ways out of an auction. @param {import("./protocol.js").View} view */
export function bids(view) {
  const all = view.actions.filter((action) => action.kind === "bid");
  return { raises: all.filter((action) => action.index > 0), leave: all.filter((action) => action.index === 0) };
}

/**
 * @param {{view: import("./protocol.js").View, choose: (action: import("./protocol.js").Action) => void, bid: (dollars: number) => void}} props
 */
export function Auction({ view, choose, bid }) {
  const auction = /** @type {import("./protocol.js").Auction} */ (view.auction);
  const [typed, setTyped] = useState("");
  const { raises, leave } = bids(view);
  const total = Number(typed);
  // An open auction goes up by the notes of the game; a sealed maximum may be any.
  const totals = raises.map((action) => action.dollars ?? 0);
  const good = typed !== "" && (auction.sealed ? Number.isInteger(total) && total > 0 && total <= auction.most : totals.includes(total));
  const near = [totals.filter((each) => each < total).at(-1), totals.find((each) => each > total)].filter((each) => each !== undefined);
  const possible = auction.sealed ? `Up to ${money(auction.most)}` : `The nearest bids that can be made: ${near.map(money).join(" and ")}`;
  const send = (/** @type {any} */ event) => {
    event.preventDefault();
    if (!good) return;
    setTyped("");
    bid(total);
  };
  return html`<div class="auction">
    <p><strong>${auction.name}</strong>:
      ${auction.leader === null || auction.leader < 0 ? " no bid yet" : html` <${Who} player=${view.players[auction.leader]} /> has bid ${money(auction.bid)}`}.
      ${" "}You can go up to ${money(auction.most)}.</p>
    <p class="bidders">In the auction: ${auction.bidders.map((seat) => html`<${Who} key=${seat} player=${view.players[seat]} /> `)}</p>
    <p class="buttons raises">${raises.map((action, number) => html`<button type="button" data-action=${action.action} onClick=${() => choose(action)}>
      <kbd>${number + 1}</kbd> ${action.text.replace("bid ", "")} <small>${money(action.dollars ?? 0)}</small></button>`)}</p>
    ${raises.length > 0 && html`<form class="typed" onSubmit=${send}>
      <label for="bid">${auction.sealed ? "My maximum" : "My bid"}</label>
      <input id="bid" inputmode="numeric" type="number" min="1" max=${auction.most} placeholder=${totals[0]} value=${typed}
        onInput=${(/** @type {any} */ event) => setTyped(event.target.value)} />
      <button class="main" disabled=${!good} title=${good ? "" : possible}>Bid</button>
      <small role="status">${typed !== "" && !good ? possible : ""}</small>
    </form>`}
    <p class="buttons">${leave.map((action) => html`<button type="button" class="quiet" data-action=${action.action} onClick=${() => choose(action)}>
      <kbd>0</kbd> ${action.text === "fold" ? "Leave the auction" : "Done"}</button>`)}</p>
  </div>`;
}
