/** Files to keep: whatever is recorded, and the board as a picture. */
import { html, render } from "./ui.js";
import { Board } from "./board.js";
import { Token } from "./token.js";
import { money } from "./words.js";

const PIXELS = 1464; // of a picture's side

/** Offer a file to keep. @param {Blob} blob @param {string} name */
export function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** What is beside the board on the page, for its middle. @param {{view: import("./protocol.js").View}} props */
const Middle = ({ view }) => html`<g transform="translate(130 150)" fill="#22262b" font-size="17">
  <text font-size="26" font-weight="bold">Turn ${view.turn}</text>
  ${view.players.map((player) => html`<g transform=${`translate(12 ${40 + 42 * player.seat})`}><${Token} ...${player} />
    <text x="26" y="6" font-weight="bold">${player.name}</text>
    <text x="460" y="6" text-anchor="end">${player.out ? "bankrupt" : `${money(player.cash)}, worth ${money(player.worth)}`}</text></g>`)}
</g>`;

/** The board as SVG. @param {any} props view and constants */
function pictured(props) {
  const box = document.createElement("div");
  render(html`<${Board} ...${props} pick=${() => {}}><${Middle} ...${props} /><//>`, box);
  const picture = /** @type {SVGElement} */ (box.querySelector("svg"));
  picture.setAttribute("width", String(PIXELS));
  picture.setAttribute("height", String(PIXELS));
  const text = new XMLSerializer().serializeToString(picture);
  render(null, box);
  return text;
}

/** @param {string} svg @returns {Promise<Blob>} */
async function painted(svg) {
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: PIXELS, height: PIXELS });
  canvas.getContext("2d")?.drawImage(image, 0, 0);
  return new Promise((resolve) => canvas.toBlob((blob) => resolve(/** @type {Blob} */ (blob))));
}

/** Buttons that save the board. @param {{view: import("./protocol.js").View, about: import("./protocol.js").About}} props */
export function Pictures(props) {
  const svg = () => download(new Blob([pictured(props)], { type: "image/svg+xml" }), "board.svg");
  const png = async () => download(await painted(pictured(props)), "board.png");
  return html`<button type="button" data-picture="svg" onClick=${svg}>Board as SVG</button> <button type="button" data-picture="png" onClick=${png}>Board as PNG</button>`;
}
