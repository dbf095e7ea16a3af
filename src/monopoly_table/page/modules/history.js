/** The course of a whole game: its sentences beside the board, and the frames at which something has happened. */
import { html, useLayoutEffect, useRef } from "./ui.js";
import { offering, sentences, several } from "./words.js";

/** @typedef {{frame: number, rows: number[][], sentences: string[]}} Happening */

/** The steps that tell something. @param {{opening: number[][], events: number[][][]}} index @param {any} view @param {any} about @returns {Happening[]} */
export const happenings = (index, view, about) => [index.opening, ...index.events].map((rows, frame) => ({ frame, rows, sentences: sentences(rows, view, about) })).filter((each) => each.sentences.length);

/**
 * Offers in a row of one player that were all rejected, as one.
 * @param {Happening[]} course @param {any} view @param {any} about @returns {Happening[]}
 */
export function folded(course, view, about) {
  const found = /** @type {Happening[]} */ ([]);
  for (let at = 0; at < course.length; at++) {
    const seat = course[at].rows[0]?.[1];
    let count = 0;
    const [made, answer] = [(/** @type {number} */ next) => offering(course[next]?.rows, about) === "offer" && course[next].rows[0][1] === seat, (/** @type {number} */ next) => offering(course[next]?.rows, about) === "reject"];
    while (made(at + 2 * count) && answer(at + 2 * count + 1)) count++;
    if (count < 2) found.push(course[at]);
    else {
      at += 2 * count - 1;
      found.push({ ...course[at], sentences: [several(seat, count, view)] });
    }
  }
  return found;
}

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
