/** The token of a seat: its shape and its letter say whose it is, even without its colour. */
import { html } from "./ui.js";

/** Outlines around 0, 0, with the size and the baseline of the letter. @type {[string, number, number][]} */
const SHAPES = [
  ["M-12 0a12 12 0 1 0 24 0a12 12 0 1 0-24 0z", 14, 5], // circle
  ["M-11.5-11.5h23v23h-23z", 14, 5], // square
  ["M0-13L13.5 10.5h-27z", 12, 8], // triangle
  ["M0-13.5L13.5 0L0 13.5L-13.5 0z", 13, 4.7], // diamond
  ["M-12.5 0l6.25-10.8h12.5l6.25 10.8l-6.25 10.8h-12.5z", 14, 5], // hexagon
  ["M-5.5-12h11v6.5h6.5v11h-6.5v6.5h-11v-6.5h-6.5v-11h6.5z", 13, 4.7], // cross
  ["M-11.5-11.5h23v9.5c0 8-5 12.5-11.5 15c-6.5-2.5-11.5-7-11.5-15z", 13, 4], // shield
  ["M0 12.5C-9 5-12.5 1.5-12.5-4.5a6.25 6.25 0 0 1 12.5-2.5a6.25 6.25 0 0 1 12.5 2.5c0 6-3.5 9.5-12.5 17z", 13, 4], // heart
];

/** The token within a picture, around 0, 0. @param {{seat: number, letter: string, colour: string}} props */
export function Token({ seat, letter, colour }) {
  const [outline, size, baseline] = SHAPES[seat];
  return html`<path class="token" d=${outline} fill=${colour} stroke="#ffffff" stroke-width="1.5" stroke-linejoin="round" />
    <text y=${baseline} text-anchor="middle" font-size=${size} font-weight="bold" fill="#ffffff">${letter}</text>`;
}

/** The token in a line of text. @param {{seat: number, letter: string, colour: string}} props */
export const Badge = ({ seat, letter, colour }) => html`<svg class="badge" viewBox="-13 -13 26 26" aria-hidden="true"><${Token} ...${{ seat, letter, colour }} /></svg>`;

/** A seat by its token and its name. @param {{player: import("./protocol.js").Player}} props */
export const Who = ({ player }) => html`<span class="who"><${Badge} ...${player} /> ${player.name}</span>`;
