/** The levels of play: policies by measured strength (docs/results/agents.md, docs/results/bargaining.md). */

/** @type {{level: string, policy: string, line: string}[]} points: on the Elo scale, of games of two */
const LEVELS = [
  { level: "Easy", policy: "friedman", line: "Buys with care and keeps its cash: −363 points." },
  { level: "Medium", policy: "algorithmic", line: "Buys, builds and trades by simple rules: +13 points." },
  { level: "Hard", policy: "expert", line: "The best of all on the ladder: +472 points." },
  { level: "Hardest", policy: "expert/bargaining", line: "Hard, but a better trader: wins 53 of 100 games of four against three of Hard." },
];

/** The levels that this table can seat. @param {import("./protocol.js").About} about */
export const levels = (about) => LEVELS.filter(({ policy }) => about.policies.some((each) => each.name === policy));

/** Seconds between the moves of the others, by name. @type {[string, number][]} */
const SPEEDS = [["slow", 1.5], ["normal", 0.6], ["fast", 0.15], ["to my next decision", 0]];

/** The name and the seconds of each speed; another one that is set comes last. @param {number} set */
export const speeds = (set) => (SPEEDS.some(([, seconds]) => seconds === set) ? SPEEDS : [...SPEEDS, /** @type {[string, number]} */ ([`${set} s`, set])]);
