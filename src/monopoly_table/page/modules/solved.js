/** The puzzles that were answered in this browser, and how. */
import { recall, remember } from "./memory.js";

/** The answers in their order: a puzzle, and whether it was right. @returns {[number, boolean][]} */
export const solved = () => recall("puzzles", []);

/** Keep the first answer to a puzzle. @param {number} puzzle @param {boolean} right */
export function keep(puzzle, right) {
  const answers = solved();
  if (!answers.some(([number]) => number === puzzle)) remember("puzzles", [...answers, [puzzle, right]]);
}

/** How many of the last answers in a row were right. */
export const streak = () => solved().length - 1 - solved().findLastIndex(([, right]) => !right);
