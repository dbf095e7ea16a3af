/** An offer as two columns of deed cards: who gets what, mortgages, colour groups, rents, and what it is worth. */
import { html, useEffect, useState } from "./ui.js";
import { previewOf } from "./facts.js";
import { useAnalysis } from "./jobs.js";
import { Who } from "./token.js";
import { CARDS, built, money, plain, verb } from "./words.js";
import { Changes } from "./worth.js";

/** Deeds, jail cards and cash as small cards. @param {{goods: import("./protocol.js").Goods, view: import("./protocol.js").View, about: import("./protocol.js").About}} props */
export function Goods({ goods, view, about }) {
  return html`<ul class="goods">
    ${goods.lots.map((number) => {
      const lot = view.lots[number];
      return html`<li key=${number} class=${lot.mortgaged ? "title-deed mortgaged" : "title-deed"} style=${{ "--group": about.groups[lot.group].colour }}>
        ${lot.name}${lot.mortgaged ? html` <small class="bad">mortgaged</small>` : ""}${lot.level ? html` <small>${built(lot.level)}</small>` : ""}</li>`;
    })}
    ${goods.cards.map((card) => html`<li key=${card} class="title-deed">${CARDS[card] ?? card}</li>`)}
    ${goods.dollars > 0 && html`<li class="title-deed cash">${money(goods.dollars)}</li>`}
    ${!goods.lots.length && !goods.cards.length && !goods.dollars && html`<li class="quiet">nothing</li>`}
  </ul>`;
}

/** One side after the exchange: its cash, its rents, its colour groups. @param {{side: any}} props */
export function After({ side }) {
  return html`<p class="after">${money(side.cash)} in cash · rents ${money(side.rent_before)} → <strong>${money(side.rent_after)}</strong>
    ${side.completes.map((/** @type {string} */ group) => html` <span class="tag won">completes ${plain(group)}</span>`)}
    ${side.breaks.map((/** @type {string} */ group) => html` <span class="tag away">breaks up ${plain(group)}</span>`)}</p>`;
}

/**
 * An offer that waits for an answer.
 * @param {{view: import("./protocol.js").View, about: import("./protocol.js").About, send?: (message: any) => Promise<any>}} props
 */
export function Offered({ view, about, send }) {
  const { from, to, give, ask } = /** @type {import("./protocol.js").Offer} */ (view.offer);
  const [sides, setSides] = useState(/** @type {any[]} */ ([]));
  const [weighed, weigh] = useState(false);
  const mine = view.you.includes(to);
  useEffect(() => {
    // Seen from the other side, the offer is one that its receiver might make.
    if (mine) send?.({ type: "preview", to: from, give: ask, ask: give }).then((answer) => setSides(previewOf(answer, from, view, about).sides), () => {});
  }, [view.version]);
  const column = (/** @type {number} */ seat, /** @type {import("./protocol.js").Goods} */ goods) => html`<div class="column">
    <h3><${Who} player=${view.players[seat]} /> ${verb("get", seat, view)}</h3>
    <${Goods} ...${{ goods, view, about }} />
    ${sides.filter((side) => side.seat === seat).map((side) => html`<${After} side=${side} />`)}</div>`;
  return html`<section class="offered" aria-label="The offer">
    <div class="sides">${column(to, give)}${column(from, ask)}</div>
    ${mine && html`<p class="buttons small"><button type="button" aria-pressed=${weighed} data-weigh onClick=${() => weigh(!weighed)}>What is it worth?</button></p>`}
    ${weighed && html`<${Answers} view=${view} />`}
  </section>`;
}

/** The chances after accepting, beside those after rejecting. @param {{view: import("./protocol.js").View}} props */
function Answers({ view }) {
  const { answer, error } = useAnalysis({ type: "analyse", target: { game: view.game, version: view.version }, policies: "expert", actions: true, most: 4000, turns: null });
  const texts = Object.fromEntries(view.actions.map((action) => [action.action, action.text]));
  const of = (/** @type {string} */ text) => answer?.candidates?.find((/** @type {any} */ each) => texts[each.action] === text);
  const [accepted, rejected] = [of("accept"), of("reject")];
  if (error) return html`<p class="error">${error}</p>`;
  if (!accepted || !rejected) return html`<p class="quiet">Playing it out …</p>`;
  const seats = view.players.filter((player) => !player.out).map(({ seat }) => ({ seat, now: rejected.shares[seat], after: accepted.shares[seat], difference: accepted.shares[seat] - rejected.shares[seat] }));
  const own = seats.find(({ seat }) => seat === view.question?.seat);
  const behind = accepted.difference ? accepted : rejected; // one of both is compared with the other
  const turned = behind === accepted ? [behind.difference_low, behind.difference_high] : [-behind.difference_high, -behind.difference_low];
  if (own && answer.candidates.length === 2) Object.assign(own, { difference: behind === accepted ? behind.difference : -behind.difference, low: turned[0], high: turned[1] });
  return html`<${Changes} ...${{ seats, players: view.players }} caption=${`Accepted, beside rejected (${answer.playouts.toLocaleString("en-US")} playouts${answer.done ? "" : ", refining"})`} />`;
}

/** The squares that an offer moves, for the board. @param {import("./protocol.js").View} view */
export function moved(view) {
  const { give, ask } = /** @type {import("./protocol.js").Offer} */ (view.offer);
  return new Map([...give.lots, ...ask.lots].map((lot) => [view.lots[lot].square, "in the offer"]));
}
