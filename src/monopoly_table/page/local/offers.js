/** Whole offers and bids as the engine's single actions. */
import { isLegal } from "../modules/facts.js";
import { CHANCE_GOOD, Refusal, bits } from "./engine.js";

const TRADED = ["cash", "lots", "jail_cards"]; // what an exchange changes

/** @param {number} dollars */
const money = (dollars) => `$${dollars.toLocaleString("en-US")}`;

/** An offer as numbers: the partner, the goods of both sides, the dollars given. @param {import("./engine.js").Engine} engine @param {any} offer @returns {[number, number, number, number]} */
function numbers(engine, { to, give, ask }) {
  const goods = (/** @type {any} */ { lots, cards }) => bits([...lots, ...cards.map((/** @type {string} */ card) => CHANCE_GOOD + engine.decks.indexOf(card))]);
  return [to, goods(give), goods(ask), give.dollars - ask.dollars];
}

/** The successive legal actions that make an offer. @param {import("./engine.js").Engine} engine @param {Uint8Array} record @param {any} offer */
export function picksOf(engine, record, offer) {
  const { picks, reason } = engine.open(record).compose(...numbers(engine, offer));
  if (!reason) return picks;
  throw new Refusal(`This offer can't be made: ${engine.about.offer_refusals[reason]}.`);
}

/** Whether an offer can be made, and what both sides have after it. @param {import("./engine.js").Engine} engine @param {Uint8Array} record @param {any} offer */
export function preview(engine, record, offer) {
  const game = engine.open(record), terms = numbers(engine, offer), { reason, seat, good } = game.compose(...terms);
  if (offer.to >= game.players || offer.to === game.player) return { reason, seat, good, record: null, derived: null };
  const after = game.exchanged(...terms);
  return { reason, seat, good, record: Object.fromEntries(TRADED.map((name) => [name, after.field(name)])), derived: { rent: after.derive().rent } };
}

/** The actions of a bid: a raise, or the notes of a sealed one. @param {import("./engine.js").Engine} engine @param {Uint8Array} record @param {number} dollars */
export function bidsOf(engine, record, dollars) {
  const facts = engine.read(record), derived = engine.open(record).derive(), first = engine.head("bid"), { notes } = engine.about;
  const decision = engine.decisions[facts.decision];
  if (decision === "bid") {
    const raises = notes.map((/** @type {any} */ _, /** @type {number} */ number) => first + 1 + number).filter((/** @type {number} */ action) => isLegal(facts.legal, action));
    const found = raises.find((/** @type {number} */ action) => derived.cost[action] === dollars);
    if (found === undefined) throw new Refusal(`A bid of ${money(dollars)} can't be made now. Possible: ${raises.map((/** @type {number} */ action) => money(derived.cost[action])).join(", ") || "to fold"}.`);
    return [found];
  }
  if (decision !== "sealed_bid") throw new Refusal("There is no auction now.");
  const written = facts.sealed[facts.player], most = Math.max(written, derived.bid_limit);
  if (dollars < written || dollars > most) throw new Refusal(`Your maximum can be ${money(written)} to ${money(most)}, not ${money(dollars)}.`);
  let left = dollars - written;
  return [...notes.flatMap((/** @type {number} */ note, /** @type {number} */ number) => {
    const count = Math.floor(left / note);
    left %= note;
    return Array(count).fill(first + notes.length - number);
  }), first];
}
