/** The players and their possessions; the one on turn is marked. */
import { html } from "./ui.js";
import { Badge } from "./token.js";
import { CARDS, money } from "./words.js";

/**
 * @param {{view: import("./protocol.js").View, about: import("./protocol.js").About, show: (square: number) => void}} props
 */
export function Players({ view, about, show }) {
  return html`<section class="players" aria-label="Players">
    <ul>${view.players.map((player) => html`<${Player} key=${player.seat} ...${{ player, view, about, show }} />`)}</ul>
    <p class="bank">Bank: ${view.bank.houses} houses, ${view.bank.hotels} hotels${view.bank.pot ? `, ${money(view.bank.pot)} on Free Parking` : ""}</p>
  </section>`;
}

/** @param {any} props */
function Player({ player, view, about, show }) {
  const asked = view.question?.seat === player.seat;
  const classes = ["player", asked && "asked", player.out && "out", view.you.includes(player.seat) && "you"].filter(Boolean).join(" ");
  const won = view.winners.includes(player.seat);
  return html`<li class=${classes} id="panel-${player.letter}">
    <div class="head">
      <${Badge} ...${player} />
      <strong class="name">${player.name}</strong>
      ${view.you.includes(player.seat) && html`<span class="tag">you</span>`}
      ${player.kind !== "policy" && !player.connected && html`<span class="tag away">away</span>`}
      ${won && html`<span class="tag won">won</span>`}
      <span class="cash">${player.out ? `place ${player.place}` : money(player.cash)}</span>
    </div>
    <p class="about">
      ${player.out ? "bankrupt" : player.where}
      ${player.policy && player.policy !== player.name && html` · ${player.policy}`}
      ${!player.out && html` · worth ${money(player.worth)}`}
      ${player.jail_cards.map((/** @type {string} */ card) => html` · <span class="jail-card">${CARDS[card] ?? card}</span>`)}
    </p>
    ${!player.out && html`<${Holdings} ...${{ player, view, about, show }} />`}
  </li>`;
}

/** The lots of a player as small cards by group. @param {any} props */
function Holdings({ player, view, about, show }) {
  const groups = about.groups.filter((/** @type {any} */ group) => group.lots.some((/** @type {number} */ lot) => player.lots.includes(lot)));
  if (!groups.length) return html`<p class="holdings none">nothing yet</p>`;
  return html`<ul class="holdings" aria-label=${`Properties of ${player.name}`}>${groups.map(
    (/** @type {any} */ group) => html`<li class=${group.lots.every((/** @type {number} */ lot) => player.lots.includes(lot)) ? "whole" : ""}>
      ${group.lots.map((/** @type {number} */ lot) => {
        const held = view.lots[lot];
        if (!player.lots.includes(lot)) return html`<span class="slot"></span>`;
        const words = `${held.name}${held.mortgaged ? ", mortgaged" : held.level ? `, ${held.level === 5 ? "hotel" : `${held.level} houses`}` : ""}`;
        return html`<button type="button" class="slot mine ${held.mortgaged ? "mortgaged" : ""}" style=${{ "--group": group.colour }}
          title=${words} aria-label=${words} onClick=${() => show(held.square)}>${held.level ? (held.level === 5 ? "H" : held.level) : ""}</button>`;
      })}
    </li>`,
  )}</ul>`;
}
