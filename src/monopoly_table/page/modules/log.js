/** The log of a game, sentence by sentence. Screen readers hear additions. */
import { html, useEffect, useRef } from "./ui.js";
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
    ${log.filter((step) => step.events.length || step.said).map((step) => html`<li key=${step.version}>
        ${link && html`<a class="again" href=${link(step.version)} title="Look at this moment" aria-label=${`Look at decision ${step.version}`}>↗</a>`}
        ${told(step, view, about).map((sentence) => html`<span class=${TURN.test(sentence) ? "turn" : "sentence"}>${sentence} </span>`)}
      </li>`)}
    ${!log.length && html`<li class="quiet">Nothing has happened yet.</li>`}
  </ol></div>`;
}
