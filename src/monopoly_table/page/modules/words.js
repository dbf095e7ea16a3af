/** Numbers and names as the page writes them. */

/** @param {number} amount */
export const money = (amount) => (amount < 0 ? "−" : "") + "$" + Math.abs(amount).toLocaleString("en-US");

/** A share as a percentage with one digit. @param {number} share */
export const percent = (share) => `${(100 * share).toFixed(1)}%`;

/** A difference of shares in points, with its sign. @param {number} share */
export const points = (share) => `${share < 0 ? "−" : "+"}${Math.abs(100 * share).toFixed(1)}`;

/** An interval of differences in points. @param {number[]} bounds low and high */
export const range = ([low, high]) => `${points(low)} to ${points(high)}`;

/** @param {number} count @param {string} noun */
export const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** @param {string} text */
export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** `light_blue` as people write it. @param {string} name */
export const plain = (name) => name.replaceAll("_", " ");

/** @param {number} level */
export const built = (level) => (level === 5 ? "hotel" : level ? counted(level, "house") : "");

/** What the presets of the rules are, in a line. @type {Record<string, string>} */
export const PRESETS = {
  official: "The booklet of 2007: auctions, even building, no cash on Free Parking.",
  any_time: "Official, but everybody may build and trade before each throw.",
  modern: "Official, but auctions start at 10 dollars.",
  short: "An hour: three deeds each at the start, hotels after three houses, the first bankruptcy ends it.",
  classic: "The board before 2008: income tax is 10% or 200 dollars, luxury tax 75.",
  uk: "The streets of London, in pounds.",
  ocnaru: "The rules of Ocnaru's thesis, for two.",
  mukhar: "The rules of Mukhar's study.",
  mukhar_trading: "The rules of Mukhar's study, with official trades.",
  mukhar_thesis: "The rules of Mukhar's study, ended after 500 turns.",
  pring: "London by Pring's rules: one deed for one, 20,000 pounds win.",
  frayn: "The rules of Frayn's program, which are the official ones.",
};

export const CARDS = /** @type {Record<string, string>} */ ({ chance: "Chance jail card", community_chest: "Community Chest jail card" });

/** Goods in words. @param {import("./protocol.js").Goods} goods @param {(lot: number) => string} nameOf */
export function inWords(goods, nameOf) {
  const names = [...goods.lots.map(nameOf), ...goods.cards.map((card) => CARDS[card] ?? card)];
  if (goods.dollars > 0) names.push(money(goods.dollars));
  if (names.length < 2) return names[0] ?? "nothing";
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}
