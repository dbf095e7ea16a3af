/**
 * Monopoly in a page: rules, players and playouts, compiled from the same sources as in Python, so
 * that the same seed gives the same game.
 *
 *     const monopoly = await load();
 *     const game = monopoly.newGame({ players: 3, seed: 7, seats: [null, "expert", "random"] });
 *     game.play();                      // up to a decision of seat 0, a person
 *     game.apply(game.legal()[0]);
 *     estimate([game.rollout({ n: 200 })]).share;
 *
 * The state of a game is data: it can be copied, kept, and sent to a worker.
 */
import { Library, block, fieldsOf, known, one, sum, valueOf, write } from "./library.js";

/**
 * @typedef {(string | null)[]} Seats the policy of each seat, or null for a person
 * @typedef {{record: Uint8Array, memory: Float64Array, progress: Uint8Array, actions: number[]}} State
 *   the record, the memory of each seat's policy, the stage of the game loop, the actions so far
 * @typedef {{players?: number, rules?: string | Uint8Array, seed?: number | bigint, seats?: Seats,
 *   turnLimit?: number}} Options `rules`: the name of a preset, or the bytes of a record's rules;
 *   `turnLimit`: turns of each player after which the score decides
 * @typedef {{policies?: string | string[], n?: number, action?: number, seed?: number | bigint,
 *   first?: number, turns?: number, value?: string, shuffle?: boolean}} RolloutOptions
 *   as of `monopoly_env.analyse.rollout`; `policies`: of all seats, or one a seat; `first`: the
 *   number of the first playout, by which workers share them
 * @typedef {{shares: Float32Array, doubledPlaces: Uint8Array, turns: Int32Array, cut: Uint8Array,
 *   players: number}} Playouts by playout and seat: the share of the win, twice the place; by
 *   playout: turns, and whether it was cut off
 * @typedef {{share: number[], low: number[], high: number[], place: number[], turns: number,
 *   cut: number, n: number}} Estimate by seat: the share of the win, its interval, the mean place
 * @typedef {import("./library.js").Field} Field
 * @typedef {(path: string) => Promise<ArrayBuffer | Uint8Array>} Reader
 */

export const NORMAL_95 = 1.959963984540054; // the quantile of a two-sided interval of 95%
const AT_ONCE = 1024; // decisions of a call

/**
 * Load the library, from the files that `python -m monopoly_env.compiled --target wasm32` writes.
 *
 * @param {string | URL | Reader} [from] their folder, by default that of this module, or a reader
 * @returns {Promise<Monopoly>}
 */
export async function load(from = new URL(".", import.meta.url)) {
  const read = typeof from === "function" ? from : reader(from);
  const [code, about] = await Promise.all([read("monopoly.wasm"), read("monopoly.json")]);
  const module = await WebAssembly.compile(/** @type {BufferSource} */ (code));
  /** @type {WebAssembly.Imports} */
  const imports = {};
  for (const { module: system, name } of WebAssembly.Module.imports(module)) {
    (imports[system] ??= {})[name] = () => { throw new Error(`The library called ${name}.`); };
  }
  const { exports } = await WebAssembly.instantiate(module, imports);
  const manifest = JSON.parse(new TextDecoder().decode(about));
  return new Monopoly(new Library(exports, manifest.exports), manifest, read);
}

/** @param {string | URL} folder @returns {Reader} */
function reader(folder) {
  return async (path) => {
    const response = await fetch(new URL(path, new URL(folder, globalThis.location?.href)));
    if (!response.ok) throw new Error(`${path} cannot be loaded: status ${response.status}.`);
    return response.arrayBuffer();
  };
}

/** Rules, policies and values of states; it starts games. */
export class Monopoly {
  #read;
  #weights = new Map();
  #kept = new Map();

  /** @param {Library} library @param {any} manifest `monopoly.json` @param {Reader} read */
  constructor(library, manifest, read) {
    this.library = library;
    this.manifest = manifest;
    this.#read = read;
  }

  /** The names of the policies. @returns {string[]} */
  get policies() { return Object.keys(this.manifest.policies); }

  /** The names of the presets of rules. @returns {string[]} */
  get presets() { return Object.keys(this.manifest.presets); }

  /** The names of the values of states. @returns {string[]} */
  get values() { return Object.keys(this.manifest.values); }

  /**
   * Load the numbers of large networks, which are files of their own.
   *
   * @param {...(string | null)} names policies, or values as "value/best"; of others nothing is loaded
   */
  async fetch(...names) {
    await Promise.all(names.map(async (name) => {
      if (name === null || this.#weights.has(name)) return;
      const path = this.#about(name).params;
      if (typeof path !== "string") return;
      const { buffer } = new Uint8Array(await this.#read(path)).slice();
      this.#weights.set(name, path.endsWith("f4") ? new Float32Array(buffer) : new Float64Array(buffer));
    }));
  }

  /** Start a game; it stands at its first decision. @param {Options} [options] @returns {Game} */
  newGame({ players = 4, rules = "official", seed = 0, seats = [], turnLimit } = {}) {
    const { progress, constants } = this.manifest, { record, count, seeds } = this.#unstarted(players, rules, seed);
    this.library.call("monopoly_env.core._start_games", [one(record), count, seeds]);
    const memory = new Float64Array(count * constants.memory);
    return new Game(this, { record, memory, progress: new Uint8Array(progress.size), actions: [] }, seats, turnLimit);
  }

  /** @param {number} players @param {string | Uint8Array} rules @param {number | bigint} seed */
  #unstarted(players, rules, seed) {
    const { record: { size, fields }, constants, presets } = this.manifest;
    const count = whole("players", players, ...constants.players), record = new Uint8Array(size);
    const numbers = typeof rules === "string" ? Uint8Array.from(atob(known("preset", rules, presets)), (c) => c.charCodeAt(0)) : rules;
    record.set(numbers, fields.find((/** @type {Field} */ { name }) => name.startsWith("rules.")).offset);
    return { record, count, seeds: block(BigInt64Array.from(words(seed)), 1, 2) };
  }

  /** The events before the first decision of a new game, as rows of `monopoly_env.events`. @param {Options} [options] @returns {number[][]} */
  opening({ players = 4, rules = "official", seed = 0 } = {}) {
    const { record, count, seeds } = this.#unstarted(players, rules, seed), { rows: most, columns } = this.manifest.constants;
    const rows = new Int32Array(most * columns);
    const begun = this.library.call("monopoly_env.events._begin", [one(record), one(record.slice()), count, seeds, block(rows, most, columns)]);
    return this.told(record, -1, table(rows, begun, columns));
  }

  /**
   * The events of an action, unless it is negative, and of what follows it, after others. The record is changed.
   *
   * @param {Uint8Array} record @param {number} action @param {number[][]} [found]
   */
  told(record, action, found = []) {
    const { rows: most, columns } = this.manifest.constants, before = record.slice(), rows = new Int32Array(most * columns);
    for (let count = -1, next = action; count < 0; next = -1) { // negative: the rows were full
      count = this.library.call("monopoly_env.events._play", [one(record), one(before), next, found.at(-1)?.[columns - 1] ?? 0, block(rows, most, columns)]);
      found.push(...table(rows, Math.abs(count), columns));
    }
    return found;
  }

  /**
   * Go on with a game.
   *
   * @param {State} state @param {Seats} [seats] @param {number} [turnLimit]
   * @returns {Game}
   */
  open(state, seats = [], turnLimit) {
    const { record, progress, constants } = this.manifest;
    const fits = state.record?.length === record.size && state.progress?.length === progress.size;
    if (!fits) throw new RangeError("This is no game, or one of another version.");
    if (this.library.call("monopoly_env.core._first_broken", [one(state.record.slice()), false])) {
      throw new RangeError("Invalid record.");
    }
    const game = new Game(this, state, seats, turnLimit);
    if (state.memory?.length === game.players * constants.memory) return game;
    throw new RangeError("The memory of the players does not fit the game.");
  }

  /**
   * The players of the game loop, and the number of the player in each seat; -1 for a person.
   *
   * @param {Seats} names @param {number} count of seats
   */
  seat(names, count) {
    if (names.length > count) throw new RangeError(`${names.length} policies for ${count} seats.`);
    const distinct = /** @type {string[]} */ ([...new Set(names.filter((name) => name))]);
    for (const name of distinct) {
      const { tables } = known("policy", name, this.manifest.policies);
      if (!tables.includes(count)) throw new RangeError(`${name} does not play at tables of ${count}.`);
    }
    const players = this.#keep(distinct.join(" "), () => this.#players(distinct));
    return { players, seats: Array.from({ length: count }, (_, seat) => distinct.indexOf(names[seat] ?? "")) };
  }

  /** @param {string[]} names @returns {any[]} */
  #players(names) {
    const rows = names.map((name) => this.#numbers(name)), count = names.length;
    const length = Math.max(1, ...rows.map((row) => row.length)), params = new Float64Array(count * length);
    rows.forEach((row, i) => params.set(row, i * length));
    const policies = names.map((name) => this.#about(name)), { library } = this;
    const addresses = ["kernel", "observe"].flatMap((which) => policies.map((one) => library.address(one[which])));
    return [
      library.keep(BigInt64Array.from(addresses), 2 * count),
      library.keep(params, count, length),
      library.keep(BigInt64Array.from(rows, (row) => BigInt(row.length)), count),
      library.keep(Uint8Array.from(policies, (one) => one.reads_mask), count),
      policies.some((one) => one.observe),
    ];
  }

  /** The address of a value of states, and its numbers. @param {string} name @param {number} players */
  value(name, players) {
    const { kernel, most_players: most } = known("value", name, this.manifest.values);
    if (players > most) throw new RangeError(`The value ${name} is for tables of 2 to ${most}.`);
    const params = this.#keep(`value/${name}`, () => {
      const row = Float32Array.from(this.#numbers(`value/${name}`));
      return this.library.keep(row, row.length);
    });
    return { handle: this.library.address(kernel), params };
  }

  /** @param {string} name @param {() => any} make */
  #keep(name, make) {
    if (!this.#kept.has(name)) this.#kept.set(name, make());
    return this.#kept.get(name);
  }

  /** What the manifest says of a policy or a value. @param {string} name */
  #about(name) {
    return name.startsWith("value/")
      ? known("value", name.slice(6), this.manifest.values)
      : known("policy", name, this.manifest.policies);
  }

  /** @param {string} name @returns {ArrayLike<number>} */
  #numbers(name) {
    const { params } = this.#about(name), row = typeof params === "string" ? this.#weights.get(name) : params;
    if (!row) throw new Error(`The numbers of ${name} are not loaded: await fetch("${name}") first.`);
    return row;
  }
}

/** One game, with a policy or a person in each seat. */
export class Game {
  #monopoly;
  /** @type {State[]} */
  #before = [];

  /** @param {Monopoly} monopoly @param {State} state @param {Seats} seats @param {number} [turnLimit] */
  constructor(monopoly, state, seats, turnLimit) {
    this.#monopoly = monopoly;
    /** Replaced by each action, never changed. */
    this.state = state;
    /** May be changed between decisions. */
    this.seats = seats;
    this.turnLimit = turnLimit;
    monopoly.seat(seats, this.players);
  }

  /** Number of players. @returns {number} */
  get players() { return this.field("num_players"); }

  /** Whether the game has ended. */
  get over() { return this.field("decision") === 0; }

  /** The seat that decides. @returns {number} */
  get player() { return this.field("player"); }

  /** One field of the record: a number, or an array. @param {string} name @returns {any} */
  field(name) {
    const found = this.#monopoly.manifest.record.fields.find((/** @type {Field} */ one) => one.name === name);
    if (!found) throw new RangeError(`A record has no field ${name}.`);
    return valueOf(this.state.record, found);
  }

  /** All fields of the record as an object, rules and hidden ones, too. @returns {any} */
  observe() { return fieldsOf(this.state.record, this.#monopoly.manifest.record); }

  /** The legal actions, ascending; none once the game is over. @returns {number[]} */
  legal() {
    const mask = new Uint8Array(this.#monopoly.manifest.constants.actions);
    this.#call("monopoly_env.core._write_mask", block(mask, mask.length));
    return [...mask.keys()].filter((action) => mask[action]);
  }

  /** Total worth of each seat, in dollars. @returns {number[]} */
  worth() {
    const worths = new BigInt64Array(this.players);
    this.#call("monopoly_env.core._write_worths", block(worths, worths.length));
    return Array.from(worths, Number);
  }

  /** Each seat's share of the win, as a value of states sees it. @param {string} [value] @returns {number[]} */
  evaluate(value = "worth") {
    const { handle, params } = this.#monopoly.value(value, this.players), shares = new Float64Array(this.players);
    const game = one(this.state.record.slice());
    this.#monopoly.library.call("monopoly_env.analyse.values._evaluate_all", [
      handle, game, params, block(shares, 1, shares.length),
    ]);
    return [...shares];
  }

  /** What follows from the record: costs, rents, worth, limits, why actions are illegal (`monopoly_env.derived`). @returns {any} */
  derive() {
    const { derived } = this.#monopoly.manifest, found = new Uint8Array(derived.size);
    this.#call("monopoly_env.derived.write_derived", one(this.state.record.slice()), one(found));
    return fieldsOf(found, derived);
  }

  /** The events of a legal action, as rows of `monopoly_env.events`. The game is not changed. @param {number} action @returns {number[][]} */
  events(action) {
    if (!this.legal().includes(action)) throw illegal(action);
    return this.#monopoly.told(this.state.record.slice(), action);
  }

  /**
   * The actions that make an offer of the player to move, or the reason why it can't be made (`monopoly_env.offers`).
   *
   * @param {number} to @param {number} give @param {number} ask goods, one bit each: lots, then the two jail cards
   * @param {number} dollars given; negative: asked for
   * @returns {{picks: number[], reason: number, seat: number, good: number}}
   */
  compose(to, give, ask, dollars) {
    const picks = new Int32Array(this.#monopoly.manifest.constants.picks);
    const count = this.#call("monopoly_env.offers.write_offer", one(this.state.record.slice()), to, give, ask, dollars, block(picks, picks.length));
    if (count > 0) return { picks: [...picks.subarray(0, count)], reason: 0, seat: -1, good: -1 };
    return { picks: [], reason: -count, seat: picks[0], good: picks[1] };
  }

  /** A copy in which only goods and cash have changed hands: to be looked at, not continued (`monopoly_env.offers`). @param {number} to @param {number} give @param {number} ask @param {number} dollars */
  exchanged(to, give, ask, dollars) {
    const copy = this.clone(), record = this.state.record.slice();
    this.#monopoly.library.call("monopoly_env.offers.exchange", [one(record), to, give, ask, dollars]);
    copy.state = { ...this.state, record };
    return copy;
  }

  /** Carry out an action of the seat that decides, and settle all up to the next decision. @param {number} action */
  apply(action) {
    if (this.over) throw new Error("The game is over: no action is legal.");
    whole("action", action, 0, this.#monopoly.manifest.constants.actions - 1);
    const before = this.state;
    this.#play(1, this.seats.map((name, seat) => (seat === this.player ? null : name)), action);
    this.#before.push(before);
  }

  /**
   * Let policies decide, up to a decision of a person or the end of the game.
   *
   * @param {number} [most] decisions
   * @returns {number[]} their actions
   */
  play(most = Infinity) {
    const from = this.state.actions.length, end = from + most;
    while (this.state.actions.length < end) {
      const asked = Math.min(AT_ONCE, end - this.state.actions.length);
      if (this.#play(asked, this.seats) < asked) break;
    }
    return this.state.actions.slice(from);
  }

  /** The action that a policy would choose here, with no memory of the game. @param {string} policy @returns {number} */
  ask(policy) {
    const memory = new Float64Array(this.state.memory.length);
    const asked = new Game(this.#monopoly, { ...this.state, memory }, Array(this.players).fill(policy));
    return asked.play(1)[0];
  }

  /** Take back the last action that was applied, and all since. @returns {boolean} whether there was one */
  undo() {
    const before = this.#before.pop();
    this.state = before ?? this.state;
    return before !== undefined;
  }

  /** A copy, which goes its own way. @returns {Game} */
  clone() { return new Game(this.#monopoly, this.state, [...this.seats], this.turnLimit); }

  /** The hash of the record, as `monopoly_env.digest` gives it. @returns {Promise<string>} */
  async digest() {
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", this.state.record.slice()));
    return [...hash.subarray(0, 8)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  /**
   * Play the position on, many times. The game is not changed, and what no player knows is drawn anew.
   *
   * @param {RolloutOptions} [options]
   * @returns {Playouts}
   */
  rollout(options = {}) {
    const { policies = "expert", n = 1000, action, seed = 0, first = 0, turns, value = "worth", shuffle = true } = options;
    const { manifest: { constants, progress }, library } = this.#monopoly, count = this.players;
    if (this.over) throw new Error("The game is over: there is nothing to play on.");
    if (action !== undefined && !this.legal().includes(action)) throw illegal(action);
    whole("n", n, 1, 1 << 24);
    whole("first", first, 0, 2 ** 31);
    const rounds = turns === undefined ? constants.no_limit : whole("turns", turns, 1, 1 << 24);
    const { seats, players } = this.#monopoly.seat(
      typeof policies === "string" ? Array(count).fill(policies) : policies, count);
    if (seats.includes(constants.outside)) throw new RangeError("A playout needs a policy in each seat.");
    const { handle, params } = this.#monopoly.value(value, count);
    const record = this.state.record.slice(), stage = new Uint8Array(progress.size);
    const actions = BigInt64Array.of(BigInt(action ?? constants.no_action));
    const seating = Int16Array.from({ length: n * count }, (_, i) => seats[i % count]);
    const results = {
      shares: new Float32Array(n * count), doubledPlaces: new Uint8Array(n * count),
      turns: new Int32Array(n), cut: new Uint8Array(n), players: count,
    };
    const memory = new Float64Array(this.state.memory.length);
    library.call("monopoly_env.analyse.playouts._play_out", [
      this.#running({ record: record.slice(), memory, progress: stage }, seats, players, constants.turn_limit * count),
      [one(record), block(actions, 1), block(seating, n, count)],
      0, n,
      [rounds, shuffle, handle, params, ...words(seed), first],
      [block(results.shares, 1, n, count), block(results.doubledPlaces, 1, n, count),
        block(results.turns, 1, n), block(results.cut, 1, n)],
    ]);
    this.#check(stage);
    return results;
  }

  /**
   * Play up to `most` decisions; returns how many were made.
   *
   * @param {number} most @param {Seats} names @param {number} [answer] of a person
   */
  #play(most, names, answer) {
    const { manifest: { constants, progress }, library } = this.#monopoly, { turnLimit } = this;
    const { seats, players } = this.#monopoly.seat(names, this.players);
    const { record, memory, progress: stage } = this.state, made = new Uint8Array(most);
    const state = { record: record.slice(), memory: memory.slice(), progress: stage.slice() };
    if (answer !== undefined) {
      const told = /** @type {Record<string, number>} */ ({ answer, answered: 1 });
      for (const field of progress.fields) if (field.name in told) write(state.progress, field, told[field.name]);
    }
    const limit = turnLimit === undefined ? constants.no_limit : turnLimit * this.players;
    const running = this.#running(state, seats, players, limit);
    const count = library.call("monopoly_env.policy.loop.play_on", [running, block(made, most)]);
    this.#check(state.progress);
    if (turnLimit !== undefined) library.call("monopoly_env.policy.loop._cap", [one(state.record), limit]);
    this.state = { ...state, actions: [...this.state.actions, ...made.subarray(0, count)] };
    return count;
  }

  /** The game as the game loop reads it. @param {any} state @param {number[]} seats @param {any[]} players @param {number} limit */
  #running({ record, memory, progress }, seats, players, limit) {
    const { constants } = this.#monopoly.manifest, count = this.players;
    return [
      one(record), block(memory, 1, count, constants.memory), block(BigInt64Array.from(seats, BigInt), 1, count),
      one(progress), players, block(new Uint8Array(constants.actions), constants.actions), limit,
    ];
  }

  /** Throw the error of a game that failed. @param {Uint8Array} progress */
  #check(progress) {
    const { stop, answer } = fieldsOf(progress, this.#monopoly.manifest.progress);
    const { illegal: refused, stuck, broken } = this.#monopoly.manifest.constants.stops;
    if (stop === refused) throw illegal(answer);
    if (stop === stuck) throw new Error("A policy never ended its turn.");
    if (stop === broken) throw new Error("The engine broke an invariant. Please report it.");
  }

  /** Call a function of a copy of the record. @param {string} name @param {...any} others */
  #call(name, ...others) {
    return this.#monopoly.library.call(name, [one(this.state.record.slice()), ...others]);
  }
}

/**
 * Each seat's share of the win by playouts of one position, with intervals of 95% (Wilson's).
 *
 * @param {Playouts[]} parts as workers played them
 * @returns {Estimate}
 */
export function estimate(parts) {
  const n = sum(parts.map(({ turns }) => turns.length)), seats = [...Array(parts[0].players).keys()];
  /** @param {(part: Playouts) => ArrayLike<number>} of @param {number} from @param {number} step */
  const mean = (of, from = 0, step = 1) => {
    let total = 0;
    for (const numbers of parts.map(of)) for (let i = from; i < numbers.length; i += step) total += numbers[i];
    return total / n;
  };
  const share = seats.map((seat) => mean((part) => part.shares, seat, seats.length));
  const bounds = share.map((p) => wilson(p, n));
  return {
    share, low: bounds.map(([low]) => low), high: bounds.map(([, high]) => high),
    place: seats.map((seat) => mean((part) => part.doubledPlaces, seat, seats.length) / 2),
    turns: mean((part) => part.turns), cut: mean((part) => part.cut), n,
  };
}

/** Wilson's interval of a share. @param {number} share @param {number} n @returns {[number, number]} */
export function wilson(share, n) {
  const z = NORMAL_95, scale = 1 + (z * z) / n, centre = (share + (z * z) / (2 * n)) / scale;
  const half = (z * Math.sqrt((share * (1 - share)) / n + (z * z) / (4 * n * n))) / scale;
  return [share <= 0 ? 0 : centre - half, share >= 1 ? 1 : centre + half];
}

/** The first rows of a table. @param {Int32Array} numbers @param {number} count @param {number} columns */
export const table = (numbers, count, columns) => Array.from({ length: count }, (_, row) => [...numbers.subarray(row * columns, (row + 1) * columns)]);

/** The two words of a seed, low first. @param {number | bigint} seed */
function words(seed) {
  const wide = typeof seed === "bigint" || Number.isSafeInteger(seed) ? BigInt(seed) : -1n;
  if (wide < 0n || wide >> 64n) throw new RangeError(`seed=${seed} must be a whole number from 0 to 2**64 - 1.`);
  return [wide & 0xffffffffn, wide >> 32n];
}

/** @param {string} name @param {number} value @param {number} [low] @param {number} [high] */
function whole(name, value, low = 0, high = 0) {
  if (Number.isInteger(value) && value >= low && value <= high) return value;
  throw new RangeError(`${name}=${value} must be a whole number from ${low} to ${high}.`);
}

/** @param {number} action */
function illegal(action) { return new RangeError(`Action ${action} is illegal here.`); }
