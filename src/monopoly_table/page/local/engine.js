/** Positions as the library has them, and as docs/protocol.md tells of them: facts, events, positions set up by hand. */
import { block, fieldsOf, one as batch, valueOf } from "../../../monopoly_env/browser/library.js";
import { Game } from "../../../monopoly_env/browser/monopoly.js";

const TASK = 6; // its place in a row of events
const CHANCE_GOOD = 28;
const MOST_THROWS = 16; // that a record holds
const NOBODY = -1;

/** A refusal: a sentence for people, and its status. */
export class Refusal extends Error {
  /** @param {string} message @param {number} [status] */
  constructor(message, status = 400) {
    super(message);
    this.status = status;
  }
}

/** The members of a set of bits. @param {number} bits @param {number} count */
export const members = (bits, count) => Array.from({ length: count }, (_, member) => member).filter((member) => (bits >>> member) & 1);

/** @param {number[]} list */
export const sum = (list) => list.reduce((total, each) => total + each, 0);

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
  write(record, name, values) {
    const { offset, type } = this.fields.get(name);
    const view = new DataView(record.buffer, record.byteOffset), size = Number(type[1]);
    [values].flat().forEach((value, place) => {
      if (size === 8) view.setBigInt64(offset + 8 * place, BigInt(value), true);
      else if (size === 4) view.setInt32(offset + 4 * place, value, true);
      else view.setInt16(offset + 2 * place, value, true);
    });
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
    const wanted = { ...presets[preset], ...options };
    const unknown = Object.keys(wanted).find((name) => !all.some((/** @type {any} */ option) => option.name === name));
    if (unknown) throw new Refusal(`Unknown option ${unknown}.`, 422);
    const numbers = all.map((/** @type {any} */ option) => this.#numberOf(option, wanted[option.name] ?? option.default));
    return new Uint8Array(Int32Array.from(numbers).buffer);
  }

  /** @param {any} option @param {any} value */
  #numberOf({ name, default: usual, choices, range }, value) {
    const number = choices ? choices.indexOf(value) : typeof value === typeof usual ? Number(value) : NaN;
    const [low, high] = choices ? [0, choices.length] : range ?? [0, 1];
    if (!(number >= low && number <= high)) throw new Refusal(`Option ${name}=${value} must be ${choices ? `one of ${choices.join(", ")}` : `from ${low} to ${high}`}.`, 422);
    return this.about.shares.includes(name) ? Math.round(100 * number) : number;
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
      if (facts.player !== own) this.write(known, "legal", facts.legal.map(() => 0));
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
      rows.push(...this.#rows("_between", game.state.record, after, (rows.at(-1)?.[TASK] ?? 0) + 1));
    }
    return rows;
  }

  /** The events before the first decision of a new game. @param {Uint8Array} first */
  opening(first) { return this.#rows("_opening", first, first); }

  /** @param {string} name @param {Uint8Array} one @param {Uint8Array} other @param {...number} more */
  #rows(name, one, other, ...more) {
    const { rows: most, columns } = this.monopoly.manifest.constants, rows = new Int32Array(most * columns);
    const count = this.call(`events.${name}`, [batch(one.slice()), batch(other.slice()), ...more, block(rows, most, columns)]);
    return Array.from({ length: count }, (_, row) => [...rows.subarray(row * columns, (row + 1) * columns)]);
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
    if (throws.length > MOST_THROWS) throw new Refusal(`A position holds ${MOST_THROWS} throws at most, not ${throws.length}.`, 422);
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

/** Whether an action is legal. @param {any} facts @param {number} action */
export const isLegal = (facts, action) => Boolean((facts.legal[action >> 5] >>> (action & 31)) & 1);
