/** Analyses by playouts: messages of docs/protocol.md, refined step by step. The server's are `monopoly_table.analysis`. */
import { sum } from "../../../monopoly_env/browser/library.js";
import { wilson } from "../../../monopoly_env/browser/monopoly.js";
import { leadInterval, mean, meanInterval } from "./numbers.js";
import { joined } from "./playouts.js";

const STEP = 0.2; // seconds that a step should take
const FIRST = 32; // playouts of the first step
const EACH = 32; // playouts of every action in the first round
const KNOWN = 2500; // playouts with a standard error of at most a point of the win
const OFFERING = ["trade_ask", "trade_give", "trade_cash"];
const COUNTER = 2; // of the head reply
const ACCEPT = 1;

/**
 * @typedef {{engine: import("./engine.js").Engine, rollout: (errand: import("./playouts.js").Errand) => Promise<Float32Array[]>}} Means
 * @typedef {{action: number, record: Uint8Array, last: number}} Move an action or a whole offer: where its playouts begin, and their first action
 */

/** The number of playouts that fit into a step. */
export class Pace {
  count = FIRST;
  #began = performance.now();

  begin() { this.#began = performance.now(); }

  /** @param {number} played */
  end(played) {
    const rate = played / Math.max(1e-6, (performance.now() - this.#began) / 1000);
    this.count = Math.max(8, Math.min(4 * this.count, Math.floor(rate * STEP)));
  }
}

/** @param {string[]} policies @param {number} [began] */
export const about = (policies, began) => ({ policies, seconds: began === undefined ? 0 : Math.round((performance.now() - began) / 10) / 100, confidence: 0.95 });

/** One seat's share in each playout. @param {Float32Array} shares @param {number} players @param {number} seat */
export const column = (shares, players, seat) => Array.from({ length: shares.length / players }, (_, playout) => shares[playout * players + seat]);

/** @param {Float32Array} shares @param {number} players */
export function summary(shares, players) {
  return Array.from({ length: players }, (_, seat) => {
    const share = mean(column(shares, players, seat)), [low, high] = wilson(share, shares.length / players);
    return { seat, share, low, high };
  });
}

/** The shares at the end of a game. @param {any} facts @returns {number[]} */
export function finalShares({ place, num_players: players }) {
  const won = Array.from({ length: players }, (_, seat) => Number(place[seat] === 1));
  return won.map((each) => each / Math.max(1, sum(won)));
}

/** The moves at a decision but for those that begin an offer. @param {Means} means @param {Uint8Array} record @returns {Move[]} */
export function movesOf({ engine }, record) {
  const facts = engine.read(record), game = engine.open(record), trades = engine.head("trade");
  if (OFFERING.includes(engine.decisions[facts.decision])) return [];
  const begins = (/** @type {number} */ action) => (action >= trades && action < engine.head("trade_ask")) || action === engine.head("reply") + COUNTER;
  return game.legal().filter((action) => !begins(action)).map((action) => ({ action, record, last: action }));
}

/** A race of moves: those that may be the best get more playouts. */
export class Race {
  played = 0;
  /** @type {Move[]} */
  #due = [];
  #goal = 0;

  /** @param {Means} means @param {Uint8Array} record @param {Move[]} moves @param {{policies: string[], most: number, turns?: number}} options */
  constructor({ engine, rollout }, record, moves, options) {
    Object.assign(this, options);
    this.rollout = rollout;
    const { player, num_players: players } = engine.read(record);
    this.player = player;
    this.players = players;
    this.most = options.most;
    this.options = { policies: options.policies, turns: options.turns };
    this.shares = new Map(moves.map((move) => [move, new Float32Array(0)]));
  }

  /** @param {Move} move */
  count(move) { return /** @type {Float32Array} */ (this.shares.get(move)).length / this.players; }

  get fewest() { return Math.min(...this.#running().map((move) => this.count(move))); }

  get isOver() { return !this.shares.size || (!this.#due.length && this.fewest >= this.most); }

  /** Play the next moves of this round; returns the number of playouts. @param {number} budget */
  async goOn(budget) {
    if (!this.#due.length) {
      this.#due = this.#running();
      this.#goal = Math.min(this.most, Math.max(EACH, 2 * this.fewest));
    }
    const first = this.count(this.#due[0]), n = Math.max(1, Math.min(this.#goal - first, budget));
    const together = this.#due.filter((move) => this.count(move) === first).slice(0, Math.max(1, Math.floor(budget / n)));
    const found = await this.rollout({ positions: together.map(({ record, last }) => ({ record, n, first, action: last })), ...this.options });
    together.forEach((move, place) => this.shares.set(move, joined([/** @type {Float32Array} */ (this.shares.get(move)), found[place]])));
    this.#due = this.#due.filter((move) => this.count(move) < this.#goal);
    this.played += n * together.length;
    return n * together.length;
  }

  /** The moves that may be the best: at first all, then all but the clearly worse. @returns {Move[]} */
  #running() {
    const all = [...this.shares.keys()];
    if (all.some((move) => this.count(move) < EACH)) return all;
    const ranked = this.ranked();
    return ranked.filter(({ difference_high }, place) => place === 0 || difference_high >= 0).map(({ move }) => move);
  }

  /** The moves played so far, the best first. */
  ranked() {
    const played = [...this.shares].filter(([move]) => this.count(move) > 1).map(([move, shares]) => ({ move, shares, own: column(shares, this.players, this.player) }));
    if (!played.length) return [];
    const best = played.reduce((one, other) => (other.own.length - one.own.length || mean(other.own) - mean(one.own)) > 0 ? other : one);
    const rows = played.map(({ move, shares, own }) => {
      const [difference, difference_low, difference_high] = move === best.move ? [0, 0, 0] : leadInterval(own.map((share, playout) => share - best.own[playout]));
      const share = mean(own), [low, high] = wilson(share, own.length);
      return { move, playouts: own.length, share, low, high, shares: summary(shares, this.players).map((each) => each.share), difference, difference_low, difference_high };
    });
    return rows.sort((one, other) => Number(other.move === best.move) - Number(one.move === best.move) || other.difference - one.difference);
  }

  /** As CANDIDATE. */
  candidates() { return this.ranked().map(({ move: { action }, ...row }) => ({ action, ...row })); }
}

/**
 * Shares of the win, now and after each legal action.
 * @param {Means} means @param {Uint8Array} record @param {{policies: string[], actions: boolean, most: number, turns?: number}} options
 */
export async function* analyse(means, record, { policies, actions, most, turns }) {
  const began = performance.now(), facts = means.engine.read(record), players = facts.num_players, pace = new Pace();
  if (!facts.decision) {
    const shares = finalShares(facts).map((share, seat) => ({ seat, share, low: share, high: share }));
    yield { type: "analysis", playouts: 0, shares, candidates: [], done: true, ...about(policies) };
    return;
  }
  const race = new Race(means, record, actions ? movesOf(means, record) : [], { policies, most, turns });
  let shares = new Float32Array(0);
  for (let done = false; !done;) {
    pace.begin();
    const first = shares.length / players, n = Math.min(pace.count, most - first);
    let played = n;
    if (n && (race.isOver || first <= (first < KNOWN ? 8 : 0.5) * race.played)) shares = joined([shares, ...await means.rollout({ positions: [{ record, n, first }], policies, turns })]);
    else played = await race.goOn(pace.count);
    pace.end(played);
    done = shares.length / players >= most && race.isOver;
    yield { type: "analysis", playouts: shares.length / players, shares: summary(shares, players), candidates: race.candidates(), done, ...about(policies, began) };
  }
}

/**
 * Shares of the win before a throw: over all 36 throws, again and again.
 * @param {Means} means @param {any} setup @param {{policies: string[], most: number, turns?: number}} options
 */
export async function* analyseThrow(means, setup, { policies, most, turns }) {
  const began = performance.now(), pace = new Pace(), players = policies.length;
  const throws = Array.from({ length: 36 }, (_, number) => [[1 + Math.floor(number / 6), 1 + (number % 6)]]);
  let shares = new Float32Array(0);
  for (let first = 0; shares.length < most * players;) {
    pace.begin();
    const records = throws.map((each) => means.engine.build({ ...setup, throws: each }, BigInt(first)).record);
    const n = Math.max(1, Math.floor(Math.min(pace.count, most - shares.length / players) / 36));
    const facts = records.map((record) => means.engine.read(record));
    const found = await means.rollout({ positions: records.filter((_, number) => facts[number].decision).map((record) => ({ record, n, first })), policies, turns });
    const ended = facts.filter(({ decision }) => !decision).map((each) => Float32Array.from(Array(n).fill(finalShares(each)).flat()));
    shares = joined([shares, ...found, ...ended]);
    first += n;
    pace.end(36 * n);
    yield { type: "analysis", playouts: shares.length / players, shares: summary(shares, players), candidates: [], done: shares.length >= most * players, ...about(policies, began) };
  }
}

/**
 * The change of every seat's share if an offer is accepted, compared with no offer.
 * @param {Means} means @param {Uint8Array} record @param {number[]} picks @param {{policies: string[], most: number}} options
 */
export async function* weigh(means, record, picks, { policies, most }) {
  const offered = means.engine.open(record), players = policies.length, pace = new Pace(), action = means.engine.head("reply") + ACCEPT;
  for (const pick of picks) offered.apply(pick);
  let [now, after] = [new Float32Array(0), new Float32Array(0)];
  while (now.length < most * players) {
    pace.begin();
    const first = now.length / players, n = Math.min(Math.max(4, Math.floor(pace.count / 2)), most - first);
    const found = await means.rollout({ positions: [{ record, n, first }, { record: offered.state.record, n, first, action }], policies });
    [now, after] = [joined([now, found[0]]), joined([after, found[1]])];
    pace.end(2 * n);
    const seats = policies.map((_, seat) => {
      const [was, is] = [column(now, players, seat), column(after, players, seat)];
      const [difference, low, high] = meanInterval(is.map((share, playout) => share - was[playout]));
      return { seat, now: mean(was), after: mean(is), difference, low, high };
    });
    yield { type: "offer", playouts: now.length / players, seats, done: now.length >= most * players, ...about(policies) };
  }
}

/**
 * The shares of all players at evenly spaced frames of a game.
 * @param {Means} means @param {import("./recording.js").Recording} recording @param {{policies: string[], points: number, playouts: number}} options
 */
export async function* curve(means, recording, { policies, points, playouts }) {
  const frames = [...new Set(Array.from({ length: points }, (_, place) => Math.round((recording.version * place) / Math.max(1, points - 1))))];
  const known = new Map(), order = frames.map((_, place) => place);
  order.sort((one, other) => Number(one % 8 !== 0) - Number(other % 8 !== 0) || Number(one % 4 !== 0) - Number(other % 4 !== 0) || one - other);
  for (const number of order.map((place) => frames[place])) {
    const record = recording.record(number), facts = means.engine.read(record);
    const rows = facts.decision
      ? summary((await means.rollout({ positions: [{ record, n: playouts, first: 0 }], policies }))[0], policies.length)
      : finalShares(facts).map((share) => ({ share, low: share, high: share }));
    known.set(number, { version: number, turn: facts.turns, shares: rows.map(({ share }) => share), low: rows.map(({ low }) => low), high: rows.map(({ high }) => high) });
    yield { type: "curve", points: [...known.values()].sort((one, other) => one.version - other.version), done: known.size === frames.length, ...about(policies) };
  }
}

export { OFFERING };
