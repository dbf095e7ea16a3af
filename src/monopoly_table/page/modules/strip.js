/** The squares around a token at a size that can be read, for small screens. */
import { html, useEffect, useRef } from "./ui.js";
import { Badge } from "./token.js";
import { built, money } from "./words.js";

const [BEHIND, AHEAD] = [1, 12]; // a throw goes 12 squares at most

/** @param {{view: import("./protocol.js").View, about: import("./protocol.js").About, square: number|null, pick: (square: number) => void}} props */
export function Strip({ view, about, square, pick }) {
  const box = useRef(/** @type {any} */ (null));
  const asked = view.question?.seat ?? view.on_turn;
  const seat = view.you.includes(asked) ? asked : view.you[0] ?? view.on_turn;
  const here = view.players[seat].square;
  const faces = about.boards[view.rules.board];
  useEffect(() => void (box.current.scrollLeft = 0), [here]);
  return html`<ol class="strip" ref=${box} aria-label=${`The squares ahead of ${view.players[seat].name}`} tabindex="0">
    ${Array.from({ length: BEHIND + AHEAD + 1 }, (_, at) => faces[(here - BEHIND + at + faces.length) % faces.length]).map((face) => html`<${Near} key=${face.square}
      ...${{ face, view, about }} chosen=${face.square === square} pick=${() => pick(face.square)} />`)}
  </ol>`;
}

/** @param {any} props */
function Near({ face, view, about, chosen, pick }) {
  const lot = face.lot === null ? null : view.lots[face.lot];
  const standing = view.players.filter((/** @type {any} */ player) => player.square === face.square && !player.out);
  const owner = lot && lot.owner !== null ? view.players[lot.owner] : null;
  const worth = !lot ? "" : !owner ? money(face.price) : lot.mortgaged ? "mortgaged" : built(lot.level) || (face.kind === "utility" ? `${lot.rent} × dice` : `rent ${money(lot.rent ?? 0)}`);
  return html`<li><button type="button" class="near ${chosen ? "chosen" : ""}" style=${{ "--group": about.groups[face.group]?.colour ?? "transparent" }} onClick=${pick}>
    <span class="title">${face.name}</span>
    <span class="standing">${standing.map((/** @type {any} */ player) => html`<${Badge} key=${player.seat} ...${player} />`)}</span>
    <small>${owner && html`<${Badge} ...${owner} /> `}${worth}</small></button></li>`;
}
