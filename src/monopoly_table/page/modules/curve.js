/** The chances of all players over a game, as a small picture that can be clicked. */
import { html } from "./ui.js";
import { percent } from "./words.js";

const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP] = [380, 170, 34, 18, 8];
const DASHES = ["", "8 3", "2 3", "10 3 2 3", "5 5", "1 4", "12 4", "6 2 1 2"];

/**
 * @param {{points: import("./protocol.js").Point[], players: import("./protocol.js").Player[], last: number, frame: number, goTo: (frame: number) => void}} props
 *   last: the last frame of the game.
 */
export function Curve({ points, players, last, frame, goTo }) {
  const x = (/** @type {number} */ version) => LEFT + ((WIDTH - LEFT - 16) * version) / Math.max(1, last);
  const y = (/** @type {number} */ share) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - share);
  const line = (/** @type {number} */ seat) => points.map((point) => `${x(point.version).toFixed(1)},${y(point.shares[seat]).toFixed(1)}`).join(" ");
  const end = points.at(-1);
  const jump = (/** @type {any} */ event) => {
    const box = event.currentTarget.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * WIDTH;
    goTo(Math.max(0, Math.min(last, Math.round(((at - LEFT) / (WIDTH - LEFT - 16)) * last))));
  };
  const words = end ? `Chances at the end of the curve: ${players.map((player) => `${player.name} ${percent(end.shares[player.seat])}`).join(", ")}` : "";
  return html`<figure class="curve">
    <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label=${`Chances of winning over the game. ${words}`} onClick=${jump}>
      ${[0, 0.5, 1].map((share) => html`<g class="axis"><line x1=${LEFT} x2=${WIDTH - 16} y1=${y(share)} y2=${y(share)} />
        <text x=${LEFT - 5} y=${y(share) + 4} text-anchor="end">${100 * share}%</text></g>`)}
      ${players.map((player) => html`<g key=${player.seat} class="line" style=${{ "--seat": player.colour }}>
        ${end && points.some((point) => point.low) && html`<polygon class="band" points=${band(points, player.seat, x, y)} />`}
        <polyline points=${line(player.seat)} stroke-dasharray=${DASHES[player.seat]} />
        ${end && html`<text x=${x(end.version) + 4} y=${y(end.shares[player.seat]) + 4}>${player.letter}</text>`}</g>`)}
      <line class="cursor" x1=${x(frame)} x2=${x(frame)} y1=${TOP} y2=${HEIGHT - BOTTOM} />
      <text class="axis" x=${LEFT} y=${HEIGHT - 4}>start</text><text class="axis" x=${WIDTH - 16} y=${HEIGHT - 4} text-anchor="end">${last} decisions</text>
    </svg>
  </figure>`;
}

/** @param {any[]} points @param {number} seat @param {(n: number) => number} x @param {(n: number) => number} y */
function band(points, seat, x, y) {
  const known = points.filter((point) => point.low);
  const upper = known.map((point) => `${x(point.version).toFixed(1)},${y(point.high[seat]).toFixed(1)}`);
  const lower = known.map((point) => `${x(point.version).toFixed(1)},${y(point.low[seat]).toFixed(1)}`).reverse();
  return [...upper, ...lower].join(" ");
}
