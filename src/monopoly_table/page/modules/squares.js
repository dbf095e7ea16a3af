/** Focus, clicks and tooltips on the squares of the board. The board itself is drawn by the server, as SVG: monopoly_env/render/svg.py. */
import { html, useLayoutEffect, useRef } from "./ui.js";

const STILL = matchMedia("(prefers-reduced-motion: reduce)");
const KEYS = /** @type {Record<string, [number, number]>} */ ({ ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] });

/** Column and row of a square on the ring of 11 x 11; GO is at the lower right. @param {number} square @returns {[number, number]} */
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

/** Where each token stands, in pixels. @param {Element} root */
function tokens(root) {
  const found = /** @type {Map<string, DOMRect>} */ (new Map());
  for (const token of root.querySelectorAll("[id^=token-]")) found.set(token.id, token.getBoundingClientRect());
  return found;
}

/** Let the tokens glide from where they stood. @param {Element} root @param {Map<string, DOMRect>} before */
function glide(root, before) {
  const scale = root.getBoundingClientRect().width / (root.querySelector("svg")?.viewBox.baseVal.width || 1) || 1;
  for (const [id, was] of before) {
    const token = root.querySelector(`#${CSS.escape(id)}`);
    const now = token?.getBoundingClientRect();
    if (!token || !now || !was.width) continue;
    const [x, y] = [(was.x - now.x) / scale, (was.y - now.y) / scale];
    if (Math.hypot(x, y) < 2) continue;
    token.animate([{ transform: `translate(${x}px, ${y}px)` }, { transform: "none" }], { duration: 450, easing: "ease-in-out" });
  }
}

/**
 * @param {{svg: string, marked?: Map<number, string>, chosen?: number|null, pick: (square: number) => void, label?: string}} props
 *   marked: the effect of a click on a square, by square.
 */
export function Squares({ svg, marked = new Map(), chosen = null, pick, label = "The board" }) {
  const root = useRef(/** @type {any} */ (null));
  const here = useRef(0); // the square that Tab reaches

  useLayoutEffect(() => {
    const held = root.current;
    const focused = held.contains(document.activeElement);
    const before = tokens(held);
    const drawing = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
    drawing.setAttribute("role", "group");
    drawing.setAttribute("aria-label", label);
    drawing.querySelector("title")?.remove(); // it would pop up everywhere over the board
    held.replaceChildren(document.importNode(drawing, true));
    if (focused) held.querySelector(`#square-${here.current}`)?.focus();
    if (!STILL.matches) glide(held, before);
  }, [svg]);

  useLayoutEffect(() => {
    for (const group of root.current.querySelectorAll("[id^=square-]")) {
      const square = Number(group.id.slice(7));
      const does = marked.get(square);
      const name = group.querySelector("title")?.textContent.split("\n")[0] ?? "";
      group.setAttribute("role", "button");
      group.setAttribute("tabindex", square === here.current ? "0" : "-1");
      const title = group.querySelector("title"); // its name to a screen reader, and its tooltip
      if (title) title.textContent = does ? `${name}\n${does}` : name;
      group.classList.toggle("can", Boolean(does && !does.startsWith("Not: ")));
      group.classList.toggle("chosen", square === chosen);
    }
  });

  /** @param {any} event */
  const clicked = (event) => {
    const group = event.target.closest("[id^=square-]");
    if (!group) return;
    move(Number(group.id.slice(7)));
    pick(Number(group.id.slice(7)));
  };
  /** @param {number} square */
  const move = (square) => {
    root.current.querySelector(`#square-${here.current}`)?.setAttribute("tabindex", "-1");
    here.current = square;
    const group = root.current.querySelector(`#square-${square}`);
    group?.setAttribute("tabindex", "0");
    group?.focus();
  };
  /** @param {any} event */
  const pressed = (event) => {
    if (KEYS[event.key]) move(neighbour(here.current, KEYS[event.key]));
    else if (event.key === "Enter" || event.key === " ") pick(here.current);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return html`<div class="board" ref=${root} onClick=${clicked} onKeyDown=${pressed}></div>`;
}
