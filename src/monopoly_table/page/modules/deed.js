/** One square in full: name, prices, rents, owner, and possible actions. */
import { html } from "./ui.js";
import { Who } from "./token.js";
import { built, money } from "./words.js";

const LABELS = /** @type {Record<string, string>} */ ({ build: "Build", sell: "Sell a building", mortgage: "Mortgage", unmortgage: "Lift the mortgage" });
const LEVELS = ["site", "1 house", "2 houses", "3 houses", "4 houses", "hotel"];

/**
 * @param {{square: number, view: import("./protocol.js").View, about: import("./protocol.js").About,
 *   choose?: (action: import("./protocol.js").Action) => void, close?: () => void}} props
 *   close: without it, the deed is the one that is for sale.
 */
export function Deed({ square, view, about, choose, close }) {
  const face = about.boards[view.rules.board].find((each) => each.square === square);
  if (!face) return null;
  const lot = face.lot === null ? null : view.lots[face.lot];
  const group = face.group === null ? null : about.groups[face.group];
  const actions = choose ? view.actions.filter((action) => action.square === square && LABELS[action.kind]) : [];
  const refusals = choose ? view.refusals.filter((refusal) => refusal.square === square) : [];
  return html`<section class=${close ? "deed" : "deed for-sale"} aria-label=${face.name}>
    <header style=${{ "--group": group?.colour ?? "transparent" }}>
      <h3>${face.name}</h3>
      ${close && html`<button type="button" class="close" aria-label="Close" onClick=${close}>×</button>`}
    </header>
    ${lot && html`<p>
      ${lot.owner === null ? html`For sale at ${money(face.price ?? 0)}` : html`Owned by <${Who} player=${view.players[lot.owner]} />`}
      ${lot.level > 0 && html` · ${built(lot.level)}`}${lot.mortgaged && html` · mortgaged`}
      ${lot.rent !== null && html` · rent now ${face.kind === "utility" ? `${lot.rent} × the dice` : money(lot.rent)}`}
    </p>`}
    ${face.rent && html`<${Rents} ...${{ face, lot }} />`}
    ${lot && html`<p class="fine">Price ${money(face.price ?? 0)} · mortgage ${money(face.mortgage ?? 0)}${face.house_price ? ` · a house ${money(face.house_price)}` : ""}</p>`}
    ${!lot && html`<p>${face.kind.replaceAll("_", " ")}</p>`}
    ${actions.length > 0 && html`<p class="buttons">${actions.map((action) => html`<button type="button" onClick=${() => choose?.(action)}>
      ${LABELS[action.kind]}${action.dollars ? html` <small>${money(action.dollars)}</small>` : ""}</button>`)}</p>`}
    ${refusals.map((refusal) => html`<p class="fine">${refusal.text}</p>`)}
  </section>`;
}

/** @param {any} props */
function Rents({ face, lot }) {
  const names = face.kind === "street" ? LEVELS : face.rent.map((/** @type {number} */ _, /** @type {number} */ i) => `${i + 1} owned`);
  const unit = face.kind === "utility" ? (/** @type {number} */ rent) => `${rent} × dice` : money;
  return html`<dl class="rents">${face.rent.map((/** @type {number} */ rent, /** @type {number} */ level) => html`
    <div class=${face.kind === "street" && lot.level === level && lot.owner !== null ? "now" : ""}><dt>${names[level] ?? level}</dt><dd>${unit(rent)}</dd></div>`)}</dl>`;
}
