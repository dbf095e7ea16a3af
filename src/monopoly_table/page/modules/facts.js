/**
 * A position as components read it, made of the facts that the game's keeper sends (docs/protocol.md): the public record, and
 * what follows from it. Server and worker send the same facts.
 */
import { actionText, goods, lotName, offerReason, payIn, questionText, reasonText, where } from "./words.js";

const NOBODY = -1;
const COUNTER = 2; // of the head reply
const ON_LOTS = ["build", "sell", "mortgage", "unmortgage", "trade_ask", "trade_give"];
const OFFERING = ["trade_ask", "trade_give", "trade_cash", "reply"];
const NUM_LOTS = 28;
const UTILITIES = 9; // their group
const [HOUSE, HOTEL] = [28, 29];

/** The members of a set of bits. @param {number} bits @param {number} count @returns {number[]} */
export const members = (bits, count) => Array.from({ length: count }, (_, member) => member).filter((member) => (bits >>> member) & 1);

/** Whether an action is legal. @param {number[]} legal words of 32 bits @param {number} action */
export const isLegal = (legal, action) => Boolean((legal[action >> 5] >>> (action & 31)) & 1);

/** The head of an action and its place in it. @param {number} action @param {import("./protocol.js").About} about */
export function headOf(action, about) {
  const head = /** @type {{name: string, start: number}} */ (about.heads.findLast((each) => each.start <= action));
  return { kind: head.name, index: action - head.start };
}

/** Add what has changed to a frame. @param {any} known @param {any} change @returns {import("./protocol.js").Frame} */
export function merged(known, change) {
  if (!known) return change;
  return { ...known, ...change, record: { ...known.record, ...change.record }, derived: { ...known.derived, ...change.derived } };
}

/** @param {import("./protocol.js").Frame} frame @param {import("./protocol.js").About} about @returns {import("./protocol.js").View} */
export function viewOf(frame, about) {
  const { record } = frame;
  const over = record.ending !== 0;
  const seats = frame.players.map((_, seat) => seat);
  payIn(frame.rules.board);
  const view = /** @type {any} */ ({
    ...frame,
    turn: record.turns, round: record.rounds + 1, on_turn: record.turn, dice: record.dice, pot: record.pot,
    bank: { houses: record.houses, hotels: record.hotels, pot: record.pot },
    over,
    ending: over ? about.endings[record.ending] : null,
    winners: over ? seats.filter((seat) => record.place[seat] === 1) : [],
    lots: lots(frame, about),
    question: null, offer: null, auction: null, actions: [], refusals: [], may_offer: [],
  });
  view.players = players(frame, about, view);
  if (record.decision === 0) return view; // over, or before a throw
  const decision = about.decisions[record.decision];
  view.question = { seat: record.player, decision, when: decision === "turn" ? about.windows[frame.derived.question[0]] : null, numbers: frame.derived.question };
  if (OFFERING.includes(decision)) view.offer = offer(record);
  if (decision === "bid" || decision === "sealed_bid") view.auction = auction(frame, about, decision);
  view.actions = actions(view, about);
  view.refusals = refusals(view, about);
  view.may_offer = mayOffer(view, about);
  view.question.text = questionText(view, about);
  return view;
}

/** @param {import("./protocol.js").Frame} frame @param {import("./protocol.js").About} about @param {any} view */
function players({ record, derived, players, you }, about, view) {
  return players.map((player, seat) => ({
    ...player,
    // "You" is the name that the page proposes: to others it says nothing.
    name: player.name === "You" && !you.includes(seat) && !about.host ? `Player ${about.letters[seat]}` : player.name,
    seat, letter: about.letters[seat], colour: about.colours[seat],
    cash: record.cash[seat], worth: derived.worth[seat], raisable: derived.raisable[seat],
    square: record.position[seat], where: where(seat, view, about), jail: record.jail[seat] ? record.jail[seat] - 1 : null,
    jail_cards: Object.keys(about.cards[view.rules.board]).filter((_, deck) => (record.jail_cards[seat] >> deck) & 1),
    lots: members(record.lots[seat], NUM_LOTS), place: record.place[seat], out: record.place[seat] > 1 && !(record.ending && derived.worth[seat] > 0),
  }));
}

/** @param {import("./protocol.js").Frame} frame @param {import("./protocol.js").About} about */
function lots({ record, derived, rules }, about) {
  const found = [];
  for (const face of about.boards[rules.board]) {
    const { lot } = face;
    if (lot === null) continue;
    const owner = record.lots.findIndex((held) => (held >> lot) & 1);
    found[lot] = {
      lot, name: face.name, square: face.square, group: face.group, owner: owner === NOBODY ? null : owner, level: record.level[lot] ?? 0,
      mortgaged: Boolean((record.mortgaged >> lot) & 1), rent: derived.rent[lot] < 0 ? null : derived.rent[lot],
    };
  }
  return found;
}

/** @param {import("./protocol.js").Record} record */
function offer(record) {
  const { offer_cash: cash } = record;
  return { from: record.offer_from, to: record.offer_to, counter: Boolean(record.offer_counter),
    give: goods(record.offer_give, Math.max(0, cash)), ask: goods(record.offer_ask, Math.max(0, -cash)) };
}

/** @param {import("./protocol.js").Frame} frame @param {import("./protocol.js").About} about @param {string} decision */
function auction({ record, derived, rules }, about, decision) {
  const lot = record.auction_lot;
  return {
    lot: lot < HOUSE ? lot : null, name: lot === HOUSE ? "a house" : lot === HOTEL ? "a hotel" : lotName(lot, rules.board, about),
    bid: record.auction_bid, leader: record.auction_leader === NOBODY ? null : record.auction_leader,
    bidders: members(record.auction_bidders, record.num_players), sealed: decision === "sealed_bid", most: derived.bid_limit,
    written: record.sealed[record.player],
  };
}

/** The legal actions. @param {any} view @param {import("./protocol.js").About} about @returns {import("./protocol.js").Action[]} */
function actions(view, about) {
  const { record } = view;
  return record.legal.flatMap((/** @type {number} */ bits, /** @type {number} */ word) => members(bits, 32).map((bit) => 32 * word + bit))
    .map((/** @type {number} */ action) => actionOf(action, view, about));
}

/** Any action, legal or not, at a position. @param {number} action @param {any} view @param {import("./protocol.js").About} about */
export function actionOf(action, view, about) {
  const { kind, index } = headOf(action, about);
  const lot = kind === "buy" ? view.question?.numbers[0] ?? null : ON_LOTS.includes(kind) && index < NUM_LOTS ? index : null;
  const to = kind === "trade" ? (view.question.seat + index + 1) % view.players.length : null;
  const found = { action, kind, index, lot, square: lot === null ? null : view.lots[lot].square, dollars: view.derived.cost[action] || null, to };
  return { ...found, text: actionText(found, view, about) };
}

/** Reasons why actions on the board are illegal. @param {any} view @param {import("./protocol.js").About} about */
function refusals(view, about) {
  return view.derived.reason.flatMap((/** @type {number} */ reason, /** @type {number} */ action) => {
    if (!reason) return [];
    const illegal = actionOf(action, view, about);
    return [{ kind: illegal.kind, square: illegal.square, text: reasonText(about.reasons[reason], illegal, view, about) }];
  });
}

/** The seats to which the player to move may make an offer, or a counter-offer. @param {any} view @param {import("./protocol.js").About} about */
function mayOffer(view, about) {
  const start = (/** @type {string} */ kind) => about.heads.find((head) => head.name === kind)?.start ?? 0;
  if (view.question.decision === "reply") return isLegal(view.record.legal, start("reply") + COUNTER) ? [view.offer.from] : [];
  return view.actions.filter((/** @type {any} */ action) => action.kind === "trade").map((/** @type {any} */ action) => action.to);
}

/**
 * What an offer would do: why it can't be made, and both sides after it.
 * @param {any} answer of the message `preview` @param {number} to @param {any} view @param {import("./protocol.js").About} about
 */
export function previewOf(answer, to, view, about) {
  const error = answer.reason ? offerReason(about.offer_reasons[answer.reason], answer.seat, answer.good, view, about) : null;
  const sides = answer.record ? [view.question.seat, to].map((seat) => sideOf(seat, answer, view, about)) : [];
  return { legal: !answer.reason, error, sides };
}

/** @param {number} seat @param {any} answer @param {any} view @param {import("./protocol.js").About} about */
function sideOf(seat, { record, derived }, view, about) {
  const [had, has] = [view.record.lots[seat], record.lots[seat]];
  const whole = (/** @type {number} */ held) => about.groups.filter((group) => group.lots.every((lot) => (held >> lot) & 1)).map((group) => group.name);
  const [before, after] = [whole(had), whole(has)];
  return {
    seat, cash: record.cash[seat], lots: members(has, NUM_LOTS),
    completes: after.filter((name) => !before.includes(name)), breaks: before.filter((name) => !after.includes(name)),
    rent_before: visits(had, view.derived.rent, view), rent_after: visits(has, derived.rent, view),
  };
}

const USUAL_THROW = 7;

/** The rent of one visit to each lot, of utilities at the most frequent throw. @param {number} held @param {number[]} rent @param {any} view */
const visits = (held, rent, view) => members(held, NUM_LOTS).reduce((total, lot) => total + Math.max(0, rent[lot]) * (view.lots[lot].group === UTILITIES ? USUAL_THROW : 1), 0);
