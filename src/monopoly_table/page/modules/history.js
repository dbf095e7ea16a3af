/** The course of a whole game: its sentences beside the board, and the frames at which something has happened. */
import { html, useLayoutEffect, useRef } from "./ui.js";
import { sentences } from "./words.js";

/** @typedef {{frame: number, sentences: string[]}} Happening */

/** The steps that tell something. @param {{events: number[][][]}} index @param {any} view @param {any} about @returns {Happening[]} */
export const happenings = (index, view, about) => index.events.map((rows, step) => ({ frame: step + 1, sentences: sentences(rows, view, about) })).filter((each) => each.sentences.length);

/**
 * The frames at which a replay stops, in their order: picks of offers and answers that tell nothing are passed over.
 * @param {Happening[]} course @param {number} last @param {boolean} every whether to stop at every decision
 */
export const stops = (course, last, every) => (every ? Array.from({ length: last + 1 }, (_, frame) => frame) : [...new Set([0, ...course.map(({ frame }) => frame), last])]);

/** @param {{course: Happening[], frame: number, goTo: (frame: number) => void}} props */
export function Course({ course, frame, goTo }) {
  const list = useRef(/** @type {any} */ (null));
  const now = course.findLast((each) => each.frame <= frame)?.frame ?? -1;
  useLayoutEffect(() => {
    const row = list.current.querySelector(".now");
    if (row) list.current.scrollTop = row.offsetTop - list.current.clientHeight / 2;
  }, [now]);
  return html`<div class="log course" ref=${list} tabindex="0" role="region" aria-label="What happened"><ol>${course.map((each) => html`<li key=${each.frame} class=${each.frame === now ? "now" : ""}>
    ${each.sentences.map((sentence) => (/^Turn \d+: /.test(sentence) ? html`<span class="turn">${sentence}</span>` : html`<button type="button" class="sentence"
      aria-current=${each.frame === now ? "step" : undefined} onClick=${() => goTo(each.frame)}>${sentence}</button>`))}</li>`)}
    ${!course.length && html`<li class="quiet">Nothing has happened yet.</li>`}</ol></div>`;
}
