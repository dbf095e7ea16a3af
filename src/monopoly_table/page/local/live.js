/** A game that is being played here: its seats, its decisions, undo, and those who look at it. */
import { Refusal, mark, newSeed } from "./engine.js";
import { bidsOf, picksOf, preview } from "./offers.js";
import { Recording, namesOf, playersOf } from "./recording.js";

const LOG = 200; // steps that a client is told at first
const AT_ONCE = 50; // milliseconds of play without a break
const FIRST_THROW = (/** @type {number[][]} */ rows) => ({ version: 0, seat: rows[0][1], action: null, events: rows, digest: "", turn: 1 });

/** @param {number} milliseconds */
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

export class Live {
  stalled = /** @type {any} */ (null);
  game = /** @type {import("../../../monopoly_env/browser/monopoly.js").Game} */ (/** @type {any} */ (null));
  actions = /** @type {number[]} */ ([]);
  /** The clients, with the frame that each has. @type {Map<(message: any) => void, any>} */
  #clients = new Map();
  #wake = () => {};
  #driving = false;
  #closed = false;
  #last = Promise.resolve(/** @type {any} */ (null));

  /**
   * @param {import("./engine.js").Engine} engine @param {import("./store.js").Store} store
   * @param {any} row @param {any[]} moments to which it can be taken back
   */
  constructor(engine, store, row, moments) {
    this.engine = engine;
    this.store = store;
    this.row = row;
    this.moments = moments;
    const past = new Recording(engine, { ...row, actions: row.actions.slice() });
    /** @type {any[]} */
    this.log = Array.from({ length: past.version }, (_, number) => past.step(number + 1)).slice(-LOG);
    this.opening = past.opening;
    this.#seat();
  }

  /** Begin with the row's record: policies sit down. */
  #seat() {
    const { state, actions, seats, turn_limit: limit } = this.row;
    this.game = this.engine.monopoly.open({ ...state, actions: [] }, seats.map((/** @type {any} */ seat) => seat.policy), limit || undefined);
    this.actions = [...actions];
    this.stalled = null;
  }

  get record() { return this.game.state.record; }

  get names() { return namesOf(this.row, this.engine.about); }

  get waitsForPolicy() { return !this.game.over && this.row.seats[this.game.player].kind === "policy" && !this.stalled; }

  /** The seats that people here answer for. */
  get people() { return this.row.seats.flatMap((/** @type {any} */ seat, /** @type {number} */ number) => (seat.kind === "person" ? [number] : [])); }

  frame() {
    const { row, people } = this;
    const own = people.includes(this.game.player) ? this.game.player : undefined;
    return {
      ...this.engine.frame(this.record, playersOf(row, this.engine.about), this.actions.length, own),
      game: row.game, you: people, undo: this.moments.length > 0, speed: row.speed, paused: row.paused, stalled: this.stalled,
    };
  }

  state() {
    const told = this.log.filter((step) => step.events.length);
    return { frame: this.frame(), log: this.opening.length && this.log.length === this.actions.length ? [FIRST_THROW(this.opening), ...told] : told };
  }

  // --- clients

  /** @param {(message: any) => void} send */
  enter(send) {
    const state = this.state();
    this.#clients.set(send, state.frame);
    send({ type: "state", ...state });
    this.#warn(send);
    this.#drive();
  }

  /** @param {(message: any) => void} send */
  leave(send) {
    this.#clients.delete(send);
    this.#wake();
    return this.#clients.size;
  }

  /** All that has been done is saved. */
  saved() { return this.#last; }

  /** The game is removed: it goes on for nobody, and is not saved again. */
  close() {
    this.#clients.clear();
    this.#closed = true;
  }

  /** Tell all what has changed since a version; null: the whole state. @param {number|null} from @param {any[]} [steps] */
  #announce(from, steps = []) {
    for (const [send, known] of this.#clients) {
      const state = this.state();
      this.#clients.set(send, state.frame);
      send(from === null ? { type: "state", ...state } : { type: "events", from, steps, frame: changes(known, state.frame) });
      this.#warn(send);
    }
  }

  /** Say that games are not kept, as long as it is so. @param {(message: any) => void} send */
  #warn(send) {
    if (this.store.fault) send({ type: "refused", error: this.store.fault });
  }

  /** Do something when all that came before is saved and told. @param {() => Promise<any>} work */
  #inTurn(work) {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }

  // --- decisions

  /** Carry out one decision: of a person, or of the policy to move. @param {number} [action] @returns {any} its step, or nothing */
  #step(action) {
    const before = this.record, { player: seat } = this.game, turn = this.game.field("turns");
    if (action === undefined) [action] = this.game.play(1);
    else this.game.apply(action);
    if (action === undefined) return null;
    this.actions.push(action);
    return { version: this.actions.length, seat, action, events: this.engine.events(before, action, this.record), digest: mark(this.record), turn };
  }

  /** All of a person's actions, or none. @param {number[]} chosen */
  async #carryOut(chosen) {
    const { state } = this.game, version = this.actions.length, steps = [];
    const sealed = this.#isSealed();
    try {
      for (const action of chosen) steps.push(this.#step(action));
    } catch (error) {
      this.game.state = state;
      this.actions.length = version;
      throw error;
    }
    const moment = { version, state: { record: state.record, memory: state.memory, progress: state.progress } };
    this.moments.push(moment);
    await this.#keep(steps, sealed && !this.#isSealed() ? { undone: 0 } : { moment });
    return steps;
  }

  #isSealed() { return this.engine.sealed({ decision: this.game.field("decision") }); }

  /** Save, and remember the steps. Opened bids can't be taken back. @param {any[]} steps @param {any} [more] */
  async #keep(steps = [], more = {}) {
    if (more.undone !== undefined) this.moments = this.moments.filter(({ version }) => version < more.undone);
    this.log = [...this.log, ...steps].slice(-LOG);
    const { record, memory, progress } = this.game.state;
    Object.assign(this.row, { state: { record, memory, progress }, actions: Uint8Array.from(this.actions) }, statusOf(this.engine, record));
    if (!this.#closed) await this.store.save(this.row, more);
  }

  async #undo() {
    const moment = this.moments.pop();
    if (!moment) throw new Refusal("There is no decision to take back: no person has decided yet, or sealed bids have been opened since.");
    const { version, state } = moment, seed = newSeed();
    this.row.reseeds = [...this.row.reseeds.filter((/** @type {any} */ [at]) => at <= version), [version, seed]];
    this.row.state = { ...state, record: this.engine.reseed(state.record.slice(), seed) };
    this.row.actions = this.row.actions.slice(0, version);
    this.#seat();
    this.log = this.log.filter((/** @type {any} */ step) => step.version <= version);
    await this.#keep([], { undone: version });
  }

  // --- policies

  /** Let policies play while somebody looks on. */
  async #drive() {
    if (this.#driving) return;
    this.#driving = true;
    while (this.#clients.size && this.waitsForPolicy && !this.row.paused) {
      const steps = await this.#inTurn(() => this.#play());
      const seconds = steps.some((/** @type {any} */ step) => step.events.length) ? this.row.speed : 0;
      await Promise.race([pause(1000 * seconds), new Promise((resolve) => { this.#wake = () => resolve(null); })]);
    }
    this.#driving = false;
  }

  async #play() {
    const end = performance.now() + AT_ONCE, from = this.actions.length, steps = [], sealed = this.#isSealed();
    try {
      while (this.waitsForPolicy && performance.now() < end) {
        const step = this.#step();
        if (!step) break;
        steps.push(step);
        if (this.row.speed > 0 && step.events.length) break;
      }
    } catch (error) {
      this.stalled = { seat: this.game.player, error: `${/** @type {Error} */ (error).message} The game is saved: give the seat to another player.` };
    }
    await this.#keep(steps, sealed && !this.#isSealed() ? { undone: 0 } : {});
    this.#announce(from, steps);
    return steps;
  }

  // --- messages

  /** The answer to a message. @param {any} message */
  async handle(message) {
    if (message.type === "ping") return { type: "pong" };
    if (message.type === "preview") return { type: "preview", ...preview(this.engine, this.record, message) };
    await this.#inTurn(async () => {
      const from = this.actions.length, steps = await this.#perform(message);
      this.#announce(message.type === "undo" ? null : from, steps);
    });
    this.#wake();
    this.#drive();
    return { type: "done" };
  }

  /** @param {any} message @returns {Promise<any[]>} steps */
  async #perform(message) {
    const { row } = this;
    switch (message.type) {
      case "speed":
        row.speed = message.speed ?? row.speed;
        row.paused = message.paused ?? row.paused;
        break;
      case "name":
        row.seats[message.seat].name = String(message.name).trim().slice(0, 40);
        break;
      case "seat":
        await this.#give(message);
        break;
      case "undo":
        this.#check(message);
        await this.#undo();
        return [];
      default:
        this.#check(message, true);
        return this.#carryOut(this.#chosen(message));
    }
    await this.#keep();
    return [];
  }

  /** @param {any} message @param {boolean} [decides] */
  #check({ version, digest }, decides = false) {
    if (version !== this.actions.length || digest !== mark(this.record))
      throw new Refusal(`The game has moved on: it is at decision ${this.actions.length}, not ${version}. Nothing was done.`);
    if (decides && this.game.over) throw new Refusal("The game is over.");
    if (decides && !this.people.includes(this.game.player)) throw new Refusal(`It is ${this.names[this.game.player]}'s decision, not yours.`);
  }

  /** The actions of a message. @param {any} message @returns {number[]} */
  #chosen(message) {
    if (message.type === "offer") return picksOf(this.engine, this.record, message);
    if (message.type === "bid") return bidsOf(this.engine, this.record, message.dollars);
    if (message.type !== "act") throw new Refusal(`Unknown message ${message.type}.`);
    if (Number.isInteger(message.action)) return [message.action];
    const { texts } = this.engine.monopoly.manifest, legal = this.game.legal();
    const found = legal.find((action) => texts[action].toLowerCase() === String(message.text).trim().toLowerCase());
    if (found === undefined) throw new Refusal(`Unknown action "${message.text}". Possible: ${legal.map((action) => texts[action]).join(", ")}.`);
    return [found];
  }

  /** Give a seat to a policy or a person. @param {any} message */
  async #give({ seat, kind, policy }) {
    const old = this.row.seats[seat];
    if (!old) throw new Refusal(`There is no seat ${seat}.`);
    if (kind === "person" && this.#isSealed()) throw new Refusal("Sealed bids are being made: take the seat when they are open.");
    const given = await checked(this.engine, { kind, policy, name: kind === "person" && old.kind !== "policy" ? old.name : "" }, this.row.seats.length);
    const { memory } = this.game.state, each = memory.length / this.row.seats.length;
    memory.fill(0, seat * each, (seat + 1) * each);
    this.row.seats[seat] = given;
    this.row.state = { ...this.row.state, memory };
    this.#seat();
  }
}

/** The player of a seat, if there is such a one. @param {import("./engine.js").Engine} engine @param {any} seat @param {number} players */
export async function checked(engine, { kind, name = "", policy = null }, players) {
  const called = String(name).trim().slice(0, 40);
  if (kind === "person") return { kind, name: called, policy: null };
  if (kind !== "policy") throw new Refusal("At a table without a server people sit at this machine: choose a person or a bot.", 422);
  await engine.monopoly.fetch(policy);
  engine.monopoly.seat([policy], players);
  return { kind, name: called, policy };
}

/** The fields of a game in the list of games. @param {import("./engine.js").Engine} engine @param {Uint8Array} record */
export function statusOf(engine, record) {
  const facts = engine.read(record), over = facts.ending !== 0;
  const seats = Array.from({ length: facts.num_players }, (_, seat) => seat);
  return { turns: facts.turns, over, winners: over ? seats.filter((seat) => facts.place[seat] === 1) : [] };
}

/** The part of a frame that differs from another. @param {any} known @param {any} now */
function changes(known, now) {
  const differing = (/** @type {any} */ old, /** @type {any} */ each) =>
    Object.fromEntries(Object.entries(each).filter(([name, value]) => JSON.stringify(old[name]) !== JSON.stringify(value)));
  return { ...differing(known, now), record: differing(known.record, now.record), derived: differing(known.derived, now.derived) };
}
