/** Single-key shortcuts, which can be switched off, and the page of help that lists them. */
import { html, useLayoutEffect, useRef, useState } from "./ui.js";
import { recall, remember } from "./memory.js";

/** Whether single keys act. @returns {boolean} */
const wanted = () => recall("single keys", true);

/** Whether a key that stays down would press a button or answer again. @param {string} key @param {HTMLElement} into */
const held = (key, into) => (key === "Enter" || key === " " ? into.closest?.("button, a, summary, [role=button]") : key.length === 1 && !into.closest?.("input, select, textarea"));

/**
 * Call the function of a key, unless something is being typed.
 * @param {Record<string, (() => void)|undefined>} keys by `event.key`
 */
export function useKeys(keys) {
  const latest = useRef(keys);
  latest.current = keys;
  useLayoutEffect(() => { // with the first paint: no key pressed after it is lost
    const pressed = (/** @type {KeyboardEvent} */ event) => {
      const into = /** @type {HTMLElement} */ (event.target);
      if (event.repeat && held(event.key, into)) return event.preventDefault();
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
      const typing = into.closest?.("input:not([type=checkbox]):not([type=range]), select, textarea");
      if (typing && event.key !== "Escape") return;
      if (event.key.startsWith("Arrow") && into.closest?.("input:not([type=checkbox]), [role=tablist], .log")) return;
      if (event.key === " " && into.closest?.("button, a, summary, [role=button]")) return; // Space presses the focused control
      if (event.key.length === 1 && !wanted()) return;
      const does = latest.current[event.key];
      if (!does) return;
      event.preventDefault();
      does();
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, []);
}

const TABLE = [
  ["1 to 9", "the numbered answers; in an auction the raises, 0 leaves it"],
  ["t", "trade desk, counter-offer"],
  ["b  s  m  l", "build, sell, mortgage, lift mortgages: then click or pick a lot"],
  ["u", "undo"],
  ["h", "hints: analyse the position"],
  ["/", "type a move, such as build Boardwalk"],
  ["g", "to the board; arrows walk over it, Enter opens a square"],
  ["p", "pause or go on"],
  ["Esc", "close what is open"],
];
const REPLAY = [
  ["← →", "one step back or forward"],
  ["↑ ↓", "one turn back or forward"],
  ["Home  End", "the first and the last moment"],
  ["Space", "play or stop"],
  ["n  N", "next or previous event: trade, colour group, auction, bankruptcy"],
];

/** @param {{close: () => void}} props */
export function Help({ close }) {
  const box = useRef(/** @type {any} */ (null));
  const [on, setOn] = useState(wanted());
  useLayoutEffect(() => box.current.showModal(), []);
  const flip = (/** @type {any} */ event) => {
    setOn(event.target.checked);
    remember("single keys", event.target.checked);
  };
  const list = (/** @type {string[][]} */ rows) => html`<dl class="keys">${rows.map(([key, does]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${does}</dd></div>`)}</dl>`;
  return html`<dialog ref=${box} onClose=${close} aria-labelledby="help-title">
    <h2 id="help-title">Keys</h2>
    <h3>At the table</h3>${list(TABLE)}
    <h3>In a replay</h3>${list(REPLAY)}
    <p><label><input type="checkbox" checked=${on} onChange=${flip} /> single keys act</label></p>
    <p>Click a square of the board to read its deed: names in full, rents, and what can be done with it.</p>
    <p class="buttons"><button type="button" class="main" onClick=${() => box.current.close()}>Close</button></p>
  </dialog>`;
}
