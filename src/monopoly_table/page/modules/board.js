/** The board: squares with owners, buildings and mortgages, and tokens that walk. Its squares can be clicked and reached by keys. */
import { html, useLayoutEffect, useRef, useState } from "./ui.js";
import { Token } from "./token.js";
import { built, money } from "./words.js";

const [CORNER, UNIT, BAND] = [96, 60, 16];
const SIZE = 2 * CORNER + 9 * UNIT;
const FAR = SIZE - CORNER;
const [INK, FAINT, LINE, PAPER, WHITE] = ["#22262b", "#737a82", "#c9c7bd", "#fbfaf6", "#ffffff"];
const SIGNS = /** @type {Record<string, string>} */ ({ go: "GO", jail: "jail", go_to_jail: "to jail", free_parking: "P" });
const wheel = (/** @type {number} */ x) => `M${x - 3} 7a3 3 0 1 0 6 0a3 3 0 1 0-6 0`;
/** Signs of squares without a colour, about their middle; a utility's by its square. */
const PICTURES = /** @type {Record<string, string>} */ ({
  railroad: `M-10 5V-3H1V-9H9V5ZM-8-4V-9H-5V-4Z${wheel(-6)}${wheel(5)}`,
  12: "M2-11-7 2H-1L-3 11 7-3H1Z", // a flash
  28: "M0-11C5-4 7-1 7 3A7 7 0 0 1-7 3C-7-1-5-4 0-11Z", // a drop
  chance: "M-6-4A6.2 6.2 0 1 1 2 2V5H-2V0A3 3 0 1 0-3-4ZM-2 7H2V11H-2Z", // a question mark
  community_chest: "M-10-1H-2V3H2V-1H10V9H-10ZM-10-3C-10-10 10-10 10-3H2V-5H-2V-3Z",
  income_tax: "M-8-10H8V10L4 7 0 10-4 7-8 10ZM-5-6V-4H5V-6ZM-5-1V1H5V-1Z", // a bill
  luxury_tax: "M-10-3-6-8H6L10-3 0 9Z", // a diamond
});
const STILL = matchMedia("(prefers-reduced-motion: reduce)");
const KEYS = /** @type {Record<string, [number, number]>} */ ({ ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] });

/** Left, top, width and height of a square; GO is at the lower right, play goes clockwise. @param {number} square @returns {[number, number, number, number]} */
export function frameOf(square) {
  const [side, place] = [Math.floor(square / 10), square % 10];
  if (place === 0) return /** @type {any} */ ([...[[FAR, FAR], [0, FAR], [0, 0], [FAR, 0]][side], CORNER, CORNER]);
  const along = FAR - UNIT * place;
  const back = SIZE - along - UNIT;
  const [left, top] = [[along, FAR], [0, along], [back, 0], [FAR, back]][side];
  return side % 2 ? [left, top, CORNER, UNIT] : [left, top, UNIT, CORNER];
}

/** The part of a square that its name leaves free, for tokens and for the hatching of a mortgage. @param {number} square */
function roomOf(square) {
  const [left, top, width, height] = frameOf(square);
  const [x, y, w, h] = width === height ? [4, 30, width - 8, 62] : width === UNIT ? [0, 46, UNIT, 37] : [UNIT, BAND, width - UNIT, 31];
  return { left: left + x, top: top + y, width: w, height: h };
}

/** Column and row of a square on the ring of 11 x 11. @param {number} square @returns {[number, number]} */
function cell(square) {
  const along = square % 10;
  return /** @type {[number, number][]} */ ([[10 - along, 10], [0, 10 - along], [along, 0], [10, along]])[Math.floor(square / 10)];
}

/** The nearest square in a direction, within the row or column. @param {number} square @param {[number, number]} direction */
function neighbour(square, [right, down]) {
  const [column, row] = cell(square);
  let best = square;
  let least = Infinity;
  for (let other = 0; other < 40; other++) {
    const [x, y] = cell(other);
    const [ahead, aside] = right ? [(x - column) * right, y - row] : [(y - row) * down, x - column];
    if (aside === 0 && ahead > 0 && ahead < least) [best, least] = [other, ahead];
  }
  return best;
}

/** A name in at most three lines. @param {string} name @param {number} width in letters */
function lines(name, width) {
  const found = /** @type {string[]} */ ([]);
  for (const word of name.split(" ")) {
    const last = found.at(-1);
    if (last !== undefined && last.length + word.length < width) found[found.length - 1] = `${last} ${word}`;
    else found.push(word);
  }
  return found.slice(0, 3);
}

/** A square to a screen reader, and its tooltip. @param {any} face @param {any} lot @param {any} view */
function inWords(face, lot, view) {
  if (!lot) return face.name;
  if (lot.owner === null) return `${face.name}: for sale at ${money(face.price)}`;
  return [`${face.name}: owned by ${view.players[lot.owner].name}`, built(lot.level), lot.mortgaged && "mortgaged"].filter(Boolean).join(", ");
}

const text = (/** @type {any} */ said, /** @type {any} */ props) => html`<text text-anchor="middle" fill=${INK} ...${props}>${said}</text>`;

/** @param {any} props */
function Square({ face, view, about, does, chosen, reached }) {
  const { square, name, kind, lot: number } = face;
  const lot = number === null ? null : view.lots[number];
  const [left, top, width, height] = frameOf(square);
  const room = roomOf(square);
  const middle = width === CORNER && height === UNIT ? UNIT / 2 : width / 2; // of the name
  const band = kind === "street" ? BAND : 0;
  const owner = lot?.owner === null ? null : view.players[lot?.owner ?? -1];
  const picture = PICTURES[kind] ?? PICTURES[square];
  const words = inWords(face, lot, view);
  const classes = [kind, does && !does.startsWith("Not: ") && "can", chosen && "chosen"].filter(Boolean).join(" ");
  return html`<g id=${`square-${square}`} class=${classes} role="button" tabindex=${reached ? 0 : -1} transform=${`translate(${left} ${top})`}>
    <title>${does ? `${words}\n${does}` : words}</title>
    <rect width=${width} height=${height} fill="none" stroke=${LINE} />
    ${lot?.mortgaged && html`<rect class="hatching" x=${room.left - left} y=${room.top - top} width=${room.width} height=${room.height} fill="url(#mortgaged)" />`}
    ${band > 0 && html`<rect width=${width} height=${band} fill=${about.groups[lot.group].colour} stroke=${LINE} /><${Buildings} level=${lot.level} width=${width} />`}
    ${lines(name, width === height ? 22 : 13).map((line, row) => text(line, { class: "name", x: middle, y: band + 11 + 9 * row, "font-size": 8 }))}
    ${SIGNS[kind] && width === height && text(SIGNS[kind], { x: width / 2, y: height / 2 + 14, "font-size": 24, "font-weight": "bold", fill: FAINT })}
    ${picture && html`<path class="sign" d=${picture} fill=${FAINT} fill-rule="evenodd" opacity=".5" transform=${`translate(${room.left - left + room.width / 2} ${room.top - top + room.height / 2})`} />`}
    ${lot && !owner && text(money(face.price), { x: width / 2, y: height - 5, "font-size": 9, fill: FAINT })}
    ${owner && html`<rect class="owner" y=${height - 13} width=${width} height="13" fill=${owner.colour} />
      ${text(lot.mortgaged ? `${owner.letter} mortgaged` : owner.letter, { x: width / 2, y: height - 3, "font-size": 9, "font-weight": "bold", fill: WHITE })}`}
  </g>`;
}

/** Houses or a hotel on the band of a street. @param {{level: number, width: number}} props */
function Buildings({ level, width }) {
  if (level === 5) return html`<rect x=${width / 2 - 13} y="3" width="26" height="10" rx="2" fill=${WHITE} stroke=${INK} />${text("HOTEL", { x: width / 2, y: 11, "font-size": 7, "font-weight": "bold" })}`;
  return Array.from({ length: level }, (_, house) => html`<rect x=${width / 2 + 13 * (house - level / 2) + 1.5} y="3" width="10" height="10" rx="1" fill=${WHITE} stroke=${INK} />`);
}

const TOKEN = 25; // across
const ROW = 4; // tokens at most

/** The place of each token; where there is little room they lie over each other. @param {any} view @returns {{player: any, x: number, y: number}[]} */
function places(view) {
  const here = view.players.filter((/** @type {any} */ player) => !player.out);
  return here.map((/** @type {any} */ player) => {
    const standing = here.filter((/** @type {any} */ other) => other.square === player.square);
    const { left, top, width, height } = roomOf(player.square);
    const [number, rows] = [standing.indexOf(player), Math.ceil(standing.length / ROW)];
    const [row, column] = [Math.floor(number / ROW), number % ROW];
    const gaps = Math.min(ROW, standing.length - ROW * row) - 1;
    const apart = Math.min(TOKEN, Math.max((width - TOKEN) / gaps, TOKEN / 2));
    const middle = Math.min(left + width / 2, left + width - (TOKEN + apart * gaps) / 2);
    return { player, x: middle + apart * (column - gaps / 2), y: top + height / 2 + Math.min(TOKEN, height - TOKEN) * (row - (rows - 1) / 2) };
  });
}

/** The tokens; one that moves forward walks from square to square. @param {{view: any}} props */
function Tokens({ view }) {
  const root = useRef(/** @type {any} */ (null));
  const before = useRef(/** @type {Map<number, {square: number, x: number, y: number}>} */ (new Map()));
  const now = places(view);
  useLayoutEffect(() => {
    for (const { player, x, y } of now) {
      const was = before.current.get(player.seat);
      before.current.set(player.seat, { square: player.square, x, y });
      if (!was || STILL.matches || (was.x === x && was.y === y)) continue;
      const steps = player.jail === null ? (player.square - was.square + 40) % 40 : 0;
      const way = steps > 0 && steps <= 12 ? Array.from({ length: steps - 1 }, (_, step) => frameOf((was.square + step + 1) % 40)).map(([left, top, width, height]) => ({ x: left + width / 2, y: top + height / 2 })) : [];
      root.current.querySelector(`#token-${player.letter}`)?.animate([was, ...way, { x, y }].map((place) => ({ transform: `translate(${place.x}px, ${place.y}px)` })), { duration: Math.min(900, 250 + 60 * way.length), easing: "ease-in-out" });
    }
  });
  return html`<g class="tokens" ref=${root} pointer-events="none">${now.map(({ player, x, y }) => html`<g key=${player.seat} id=${`token-${player.letter}`} transform=${`translate(${x} ${y})`}>
    ${player.jail !== null && html`<rect x="-14" y="-14" width="28" height="28" rx="3" fill="none" stroke=${INK} />`}<${Token} ...${player} /></g>`)}</g>`;
}

/**
 * @param {{view: import("./protocol.js").View, about: import("./protocol.js").About, marked?: Map<number, string>, chosen?: number|null,
 *   pick: (square: number) => void, children?: any}} props
 *   marked: the effect of a click on a square, by square; children: a drawing for the middle.
 */
export function Board({ view, about, marked = new Map(), chosen = null, pick, children }) {
  const root = useRef(/** @type {any} */ (null));
  const [here, setHere] = useState(0); // the square that Tab reaches
  const move = (/** @type {number} */ square) => {
    setHere(square);
    root.current.querySelector(`#square-${square}`)?.focus();
  };
  const clicked = (/** @type {any} */ event) => {
    const group = event.target.closest("[id^=square-]");
    if (!group) return;
    move(Number(group.id.slice(7)));
    pick(Number(group.id.slice(7)));
  };
  const pressed = (/** @type {any} */ event) => {
    if (KEYS[event.key]) move(neighbour(here, KEYS[event.key]));
    else if (event.key === "Enter" || event.key === " ") pick(here);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return html`<div class="board" ref=${root} onClick=${clicked} onKeyDown=${pressed}>
    <svg viewBox=${`0 0 ${SIZE} ${SIZE}`} role="group" aria-label="The board" font-family="Helvetica, Arial, sans-serif">
      <defs><pattern id="mortgaged" width="6" height="6" patternUnits="userSpaceOnUse"><path d="M0 6 L6 0" stroke=${LINE} stroke-width="1" /></pattern></defs>
      <rect width=${SIZE} height=${SIZE} fill=${PAPER} />
      ${about.boards[view.rules.board].map((face) => html`<${Square} key=${face.square} ...${{ face, view, about }} does=${marked.get(face.square)} chosen=${face.square === chosen} reached=${face.square === here} />`)}
      ${children}
      <${Tokens} view=${view} />
    </svg></div>`;
}
