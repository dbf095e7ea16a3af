/** Positions as the library has them, and as docs/protocol.md tells of them: facts, events, positions set up by hand. */
import { block, fieldsOf, one as batch, valueOf, write } from "../../../monopoly_env/browser/library.js";
import { Game, table } from "../../../monopoly_env/browser/monopoly.js";
import { members } from "../modules/facts.js";

export const CHANCE_GOOD = 28; // goods of an offer: 28 lots, then the two jail cards
const NOBODY = -1;

/** A refusal: a sentence for people, and its status. */
export class Refusal extends Error {
  /** @param {string} message @param {number} [status] */
  constructor(message, status = 400) {
    super(message);
    this.status = status;
  }
}

export class Engine {
  /** @param {import("../../../monopoly_env/browser/monopoly.js").Monopoly} monopoly @param {any} about the constants */
  constructor(monopoly, about) {
    this.monopoly = monopoly;
    const known = Object.entries(monopoly.manifest.policies);
    this.about = { ...about, policies: known.map(([name, { params }]) => ({ name, plays_on: typeof params !== "string" })) };
    this.fields = new Map(monopoly.manifest.record.fields.map((/** @type {any} */ field) => [field.name, field]));
    this.over = Object.keys(about.events).indexOf("over");
    this.decisions = /** @type {string[]} */ (monopoly.manifest.decisions);
  }

  /** @param {string} name @param {any[]} given */
  call(name, given) { return this.monopoly.library.call(`monopoly_env.${name}`, given); }

  /** The record as an object. @param {Uint8Array} record @returns {any} */
  read(record) { return fieldsOf(record, this.monopoly.manifest.record); }

  /** Write a field of a record; numbers of an array from the first on. @param {Uint8Array} record @param {string} name @param {number | number[]} values */
  write(record, name, values) { write(record, this.fields.get(name), values); }

  /** Write zeros to fields. @param {Uint8Array} record @param {...string} names */
  clear(record, ...names) {
    for (const name of names) this.write(record, name, Array(this.fields.get(name).shape[0] ?? 1).fill(0));
  }

  /** The first action of a head. @param {string} name @returns {number} */
  head(name) { return this.about.heads.find((/** @type {any} */ head) => head.name === name).start; }

  /** A game of the library, all seats open; the record is not checked. @param {Uint8Array} record @param {number} [turnLimit] */
  open(record, turnLimit) {
    const { progress, constants } = this.monopoly.manifest;
    const memory = new Float64Array(valueOf(record, this.fields.get("num_players")) * constants.memory);
    return new Game(this.monopoly, { record, memory, progress: new Uint8Array(progress.size), actions: [] }, [], turnLimit);
  }

  // --- rules

  /** The bytes of rules. @param {{preset?: string, options?: Record<string, any>}} chosen */
  rules({ preset = "official", options = {} }) {
    const { presets, options: all } = this.about.rules;
    if (!(preset in presets)) throw new Refusal(`Unknown preset ${preset}. Known: ${Object.keys(presets).join(", ")}.`, 422);
    const given = { ...presets[preset], ...options };
    const unknown = Object.keys(given).find((name) => !all.some((/** @type {any} */ option) => option.name === name));
    if (unknown) throw new Refusal(`Unknown option ${unknown}.`, 422);
    const values = Object.fromEntries(all.map((/** @type {any} */ { name, default: usual }) => [name, given[name] ?? usual]));
    const numbers = all.map((/** @type {any} */ option) => this.#numberOf(option, values[option.name]));
    const meets = (/** @type {any} */ [name, wrong]) => (typeof values[name] === "number" ? wrong[0] <= values[name] && values[name] <= wrong[1] : wrong.includes(values[name]));
    const [, reason] = this.about.contradictions.find((/** @type {any} */ [clash]) => Object.entries(clash).every(meets)) ?? [];
    if (reason) throw new Refusal(`Contradictory options: ${reason.replace(/\{(\w+)\}/g, (/** @type {any} */ _, /** @type {string} */ name) => values[name])}.`, 422);
    return new Uint8Array(Int32Array.from(numbers).buffer);
  }

  /** @param {any} option @param {any} value */
  #numberOf({ name, default: usual, choices, range }, value) {
    const share = this.about.shares.includes(name), [low, high] = range ?? [];
    const check = (/** @type {boolean} */ holds, /** @type {string} */ wanted) => {
      if (!holds) throw new Refusal(`Option ${name}=${value} must be ${wanted}.`, 422);
    };
    if (choices) check(choices.includes(value), `one of ${choices.join(", ")}`);
    else if (range) check((share || Number.isInteger(value)) && value >= low && value <= high, `a ${share ? "" : "whole "}number from ${low} to ${high}`);
    else check(typeof value === typeof usual, "True or False");
    if (!share) return choices ? choices.indexOf(value) : Number(value);
    check(Math.abs(100 * value - Math.round(100 * value)) < 1e-9, "a whole number of percent");
    return Math.round(100 * value);
  }

  /** The options that differ from the official rules. @param {Record<string, number>} numbers of a record @returns {Record<string, any>} */
  changed(numbers) {
    const given = this.about.rules.options.map((/** @type {any} */ { name, default: usual, choices }) => {
      const number = numbers[name];
      const value = choices ? choices[number] : typeof usual === "boolean" ? Boolean(number) : this.about.shares.includes(name) ? number / 100 : number;
      return [name, value, usual];
    });
    return Object.fromEntries(given.filter((/** @type {any[]} */ [, value, usual]) => value !== usual));
  }

  // --- facts

  /** Whether a sealed auction is running. @param {any} facts */
  sealed(facts) { return this.decisions[facts.decision] === "sealed_bid"; }

  /**
   * A position as facts.
   * @param {Uint8Array} record @param {any[]} players @param {number} version @param {number} [own] the seat whose sealed bid is shown
   */
  frame(record, players, version, own = NOBODY) {
    let facts = this.read(record), known = record;
    if (this.sealed(facts)) {
      known = record.slice();
      this.write(known, "sealed", facts.sealed.map((/** @type {number} */ bid, /** @type {number} */ seat) => (seat === own ? bid : 0)));
      if (facts.player !== own) this.clear(known, "legal");
      facts = this.read(known);
    }
    const changed = this.changed(facts.rules);
    return {
      version, digest: mark(record),
      record: Object.fromEntries(this.about.public.map((/** @type {string} */ name) => [name, facts[name]])), derived: this.open(known).derive(),
      rules: { board: changed.board ?? this.about.board, changed }, players,
      you: [], undo: false, speed: 0, paused: false, stalled: null, chosen: null,
    };
  }

  // --- events

  /** The events of an action that leads from one record to another, which the turn limit may have ended. @param {Uint8Array} before @param {number} action @param {Uint8Array} after */
  events(before, action, after) {
    const game = this.open(before), rows = game.events(action);
    if (this.read(after).ending && !rows.some(([kind]) => kind === this.over)) {
      game.apply(action);
      const { rows: most, columns } = this.monopoly.manifest.constants, more = new Int32Array(most * columns), task = (rows.at(-1)?.[columns - 1] ?? 0) + 1;
      const count = this.call("events._between", [batch(game.state.record.slice()), batch(after.slice()), task, block(more, most, columns)]);
      rows.push(...table(more, count, columns));
    }
    return rows;
  }

  // --- the future

  /** Give a record another future: new dice, and new cards where nobody has seen them. @param {Uint8Array} record @param {bigint} seed */
  reseed(record, seed) {
    this.write(record, "seed", [Number(seed & 0xffffffffn), Number(seed >> 32n)]);
    this.call("core._shuffle_unseen", [batch(record)]);
    return record;
  }

  // --- positions

  /**
   * A position set up by hand: at its first decision, and before its throw.
   * @param {any} setup docs/protocol.md, `POST /api/positions` @param {bigint} [seed]
   * @returns {{record: Uint8Array, moment: Uint8Array}}
   */
  build({ rules = {}, players, turn = 0, streak = 0, pot = null, buildings = [], mortgaged = [], throws = [] }, seed = 0n) {
    const record = new Uint8Array(this.monopoly.manifest.record.size), moment = record.slice(), given = batch(record);
    record.set(this.rules(rules), this.fields.get("rules.board").offset);
    if (!(players?.length >= 2 && players.length <= 8)) throw new Refusal("A position needs 2 to 8 players.", 422);
    const held = players.flatMap((/** @type {any} */ player) => (player.jail_cards ?? []).map((/** @type {string} */ deck) => this.decks.indexOf(deck)));
    if (held.includes(-1)) throw new Refusal(`A jail card is of one of the decks ${this.decks.join(", ")}.`, 422);
    const [most] = this.fields.get("forced_throws").shape;
    if (throws.length > most) throw new Refusal(`A position holds ${most} throws at most, not ${throws.length}.`, 422);
    this.call("positions._prepare", [given, players.length, Number(seed & 0xffffffffn), Number(seed >> 32n)]);
    const usual = this.read(record), left = players.filter((/** @type {any} */ player) => player.bankrupt).length;
    if (players.length - left < 2) throw new Refusal("Fewer than two players are left: the game would be over.", 422);
    let places = players.length;
    this.write(record, "cash", players.map((/** @type {any} */ player) => (player.bankrupt ? 0 : player.cash ?? usual.cash[0])));
    this.write(record, "position", players.map((/** @type {any} */ player) => (jailed(player) ? this.about.jail : player.square ?? 0)));
    this.write(record, "jail", players.map((/** @type {any} */ player) => (jailed(player) ? player.jail + 1 : 0)));
    this.write(record, "lots", players.map((/** @type {any} */ player) => bits(player.lots ?? [])));
    this.write(record, "jail_cards", players.map((/** @type {any} */ player) => bits((player.jail_cards ?? []).map((/** @type {string} */ deck) => this.decks.indexOf(deck)))));
    this.write(record, "place", players.map((/** @type {any} */ player) => (player.bankrupt ? places-- : 0)));
    this.write(record, "mortgaged", bits(mortgaged));
    this.write(record, "level", usual.level.map((/** @type {number} */ _, /** @type {number} */ lot) => buildings.find((/** @type {any} */ each) => each.lot === lot)?.level ?? 0));
    if (pot !== null) this.write(record, "pot", pot);
    this.write(record, "forced_throws", throws.map((/** @type {number[]} */ [first, second]) => 10 * first + second));
    this.write(record, "num_forced", throws.length);
    this.call("positions._count_buildings", [given]);
    for (const deck of held) this.call("positions._hold_card", [given, deck]);
    this.#sound(this.call("positions._begin_turn", [given, batch(moment), turn, streak]));
    this.#sound(this.call("core._settle", [given]) || this.call("core._first_broken", [given, false]));
    return { record, moment };
  }

  get decks() { return Object.keys(this.about.cards[this.about.board]); }

  /** @param {number} broken */
  #sound(broken) {
    if (broken) throw new Refusal(`This can't be: ${this.monopoly.manifest.violations[broken]}.`, 422);
  }

  /** Whether the next throw comes before any decision, and is not forced. @param {any} setup */
  isBeforeThrow(setup) { return !setup.throws?.length && this.read(this.build({ ...setup, throws: [[1, 2]] }).record).num_forced === 0; }

  /** The position of a record, before the throw of the seat on turn. @param {Uint8Array} record @returns {any} */
  setup(record) {
    const facts = this.read(record), owned = facts.lots.reduce((/** @type {number} */ all, /** @type {number} */ lots) => all | lots, 0);
    const players = Array.from({ length: facts.num_players }, (_, seat) => ({
      cash: Math.max(0, facts.cash[seat]), square: facts.position[seat], jail: facts.jail[seat] ? facts.jail[seat] - 1 : null,
      jail_cards: this.decks.filter((_, deck) => (facts.jail_cards[seat] >> deck) & 1), lots: members(facts.lots[seat], CHANCE_GOOD), bankrupt: facts.place[seat] > 0,
    }));
    return {
      rules: { preset: "official", options: this.changed(facts.rules) }, seed: 0, turn: facts.turn, streak: 0, pot: facts.pot, players,
      buildings: facts.level.flatMap((/** @type {number} */ level, /** @type {number} */ lot) => (level ? [{ lot, level }] : [])),
      mortgaged: members(facts.mortgaged & owned, CHANCE_GOOD), throws: [], chance: [], community_chest: [],
    };
  }
}

/** @param {any} player of a position */
const jailed = ({ jail, bankrupt }) => typeof jail === "number" && !bankrupt;

/** @param {number[]} places */
export const bits = (places) => places.reduce((set, place) => set | (1 << place), 0);

/** A mark by which two positions of a game differ. @param {Uint8Array} record */
export function mark(record) {
  let [one, other] = [0x811c9dc5, 0x9747b28c];
  for (const byte of record) {
    one = Math.imul(one ^ byte, 0x01000193);
    other = Math.imul(other ^ byte, 0x5bd1e995);
  }
  return [one, other].map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}

/** A seed from the browser's randomness. */
export const newSeed = () => crypto.getRandomValues(new BigUint64Array(1))[0];
