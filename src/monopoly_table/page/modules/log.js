/** The log of a game, sentence by sentence. Screen readers hear additions. */
import { html, useEffect, useRef } from "./ui.js";
import { folded } from "./history.js";
import { told } from "./words.js";

const TURN = /^Turn \d+: /; // the sentence that begins a turn

/**
 * @param {{log: import("./protocol.js").Step[], view: import("./protocol.js").View, about: import("./protocol.js").About, link?: (version: number) => string}} props
 *   link: where a step can be looked at again.
 */
export function Log({ log, view, about, link }) {
  const end = useRef(/** @type {any} */ (null));
  const last = log.at(-1)?.version;
  useEffect(() => {
    const list = end.current;
    if (list) list.scrollTop = list.scrollHeight;
  }, [last]);
  return html`<div class="log" role="log" aria-live="polite" aria-label="What happened" tabindex="0" ref=${end}><ol>
    ${folded(log.map((step) => ({ frame: step.version, rows: step.said ? [] : step.events, sentences: told(step, view, about) })).filter((each) => each.sentences.length), view, about).map((each) => html`<li key=${each.frame}>
        ${link && html`<a class="again" href=${link(each.frame)} title="Look at this moment" aria-label=${`Look at decision ${each.frame}`}>↗</a>`}
        ${each.sentences.map((sentence) => html`<span class=${TURN.test(sentence) ? "turn" : "sentence"}>${sentence} </span>`)}
      </li>`)}
    ${!log.length && html`<li class="quiet">Nothing has happened yet.</li>`}
  </ol></div>`;
}
