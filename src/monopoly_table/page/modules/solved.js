/** The puzzles that were answered in this browser, and how. */

const KEY = "monopoly-env puzzles";

/** The answers in their order: a puzzle, and whether it was right. @returns {[number, boolean][]} */
export function solved() {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "[]");
  } catch {
    return []; // a browser that forbids storage
  }
}

/** Keep the first answer to a puzzle. @param {number} puzzle @param {boolean} right */
export function keep(puzzle, right) {
  const answers = solved();
  if (answers.some(([number]) => number === puzzle)) return;
  try {
    localStorage.setItem(KEY, JSON.stringify([...answers, [puzzle, right]]));
  } catch {
    // then the streak lasts as long as the page
  }
}

/** How many of the last answers in a row were right. */
export const streak = () => solved().length - 1 - solved().findLastIndex(([, right]) => !right);
