/** The board with its middle: dice, the last sentences, and whatever is to be done, inside the board where there is room for it. */
import { html } from "./ui.js";
import { Board } from "./board.js";
import { Deed } from "./deed.js";
import { Strip } from "./strip.js";
import { money } from "./words.js";

const PIPS = /** @type {Record<number, number[]>} */ ({ 1: [4], 2: [0, 8], 3: [0, 4, 8], 4: [0, 2, 6, 8], 5: [0, 2, 4, 6, 8], 6: [0, 2, 3, 5, 6, 8] });

/** @param {{eyes: number}} props */
const Die = ({ eyes }) => html`<svg class="die" viewBox="0 0 32 32" aria-hidden="true"><rect x="1" y="1" width="30" height="30" rx="6" />
  ${(PIPS[eyes] ?? []).map((place) => html`<circle cx=${8 + 8 * (place % 3)} cy=${8 + 8 * Math.floor(place / 3)} r="2.8" />`)}</svg>`;

/**
 * @param {{view: import("./protocol.js").View, about: import("./protocol.js").About, recent?: string[],
 *   marked?: Map<number, string>, square: number|null, setSquare: (square: number|null) => void, pick?: (square: number) => void,
 *   choose?: (action: import("./protocol.js").Action) => void, children?: any}} props
 */
export function Stage({ view, about, recent = [], marked, square, setSquare, pick, choose, children }) {
  const sale = view.question?.decision === "buy" ? view.lots[view.question.numbers[0]].square : undefined;
  return html`<section class="stage" aria-label="Table">
    <${Board} ...${{ view, about, marked }} chosen=${square} pick=${pick ?? setSquare} />
    <${Strip} ...${{ view, about, square }} pick=${pick ?? setSquare} />
    <div class="centre">
      <div class="now">
        <p><strong>Turn ${view.turn}</strong>${view.over ? "" : html` <span class="quiet">${view.players[view.on_turn]?.name}</span>`}</p>
        <p class="dice" role="img" aria-label=${`Last throw: ${view.dice[0]} and ${view.dice[1]}`}><${Die} eyes=${view.dice[0]} /><${Die} eyes=${view.dice[1]} /></p>
        ${view.bank.pot > 0 && html`<p class="pot">${money(view.bank.pot)} on Free Parking</p>`}
      </div>
      <p class="recent" aria-hidden="true">${recent.slice(-4).map((sentence) => html`<span>${sentence}</span>`)}</p>
      <div class="dock">
        ${square === null && sale !== undefined && html`<${Deed} key=${sale} ...${{ view, about }} square=${sale} />`}
        ${square !== null && html`<${Deed} key=${square} ...${{ square, view, about, choose }} close=${() => setSquare(null)} />`}
        ${children}
      </div>
    </div>
  </section>`;
}
