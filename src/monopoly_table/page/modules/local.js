/**
 * The table without a server: it stands in place of `server.js` and sends the same facts. The rules are the library that is
 * compiled for browsers; games are kept in this browser.
 */
import { Refused } from "./address.js";
import { merged } from "./facts.js";

export { Refused, address, go, place } from "./address.js";

/** @typedef {{id: string, players: any[], preset: string, seed: number, limit: number, speed: number,
 *   paused: boolean, actions: number[], seeds: [number, number][], updated: number}} Kept a game as it is kept: `seeds` were drawn after an undo */

const KEPT = "monopoly-env game ";
const LOG = 200; // steps that are shown
const [GUEST, POLICY] = ["guest", "policy"];
const WORDS = "This table has no server: ";

/** The library for browsers (docs/browser.md), which a static host has beside the page. */
const library = import(new URL("../library/monopoly.js", import.meta.url).href).then((module) => module.load());
const constants = fetch(new URL("../about.json", import.meta.url)).then((answer) => answer.json());
const sockets = /** @type {Map<string, Set<GameSocket>>} */ (new Map());
const games = /** @type {Map<string, Table>} */ (new Map());

const newSeed = () => Math.floor(Math.random() * 2 ** 50);

/** One game: its setup, the library's game, and the steps so far. */
class Table {
  /** @param {any} monopoly @param {any} about @param {Kept} kept */
  constructor(monopoly, about, kept) {
    this.monopoly = monopoly;
    this.about = about;
    this.kept = kept;
    /** @type {any[]} */
    this.steps = [];
    this.game = this.start();
    this.replay(kept.actions);
  }

  get seats() { return this.kept.players.map((player) => (player.kind === POLICY ? player.policy : null)); }

  get you() { return this.kept.players.flatMap((player, seat) => (player.kind === POLICY ? [] : [seat])); }

  get version() { return this.kept.actions.length; }

  /** A game at its start. */
  start() {
    const { preset, seed, limit, players } = this.kept;
    return this.monopoly.newGame({ players: players.length, rules: preset, seed, seats: this.seats, turnLimit: limit || undefined });
  }

  /** Go to the position after these actions. @param {number[]} actions */
  replay(actions) {
    this.game = this.start();
    this.steps = [];
    this.kept.actions = [];
    for (const action of actions) this.apply(action);
  }

  /** Let the policy of the seat decide; returns its step. */
  play() {
    const ahead = this.game.clone();
    const [action] = ahead.play(1);
    return this.apply(action, ahead.state);
  }

  /** Carry out an action; returns its step. @param {number} action @param {any} [state] the state after it, if it is known */
  apply(action, state) {
    const { game } = this;
    const [seat, turn, events] = [game.player, game.field("turns"), game.events(action)];
    if (state) game.state = state;
    else game.apply(action);
    this.kept.actions.push(action);
    for (const [at, seed] of this.kept.seeds) if (at === this.version) this.reseed(seed);
    const step = { version: this.version, seat, turn, action, events, digest: this.digest };
    this.steps.push(step);
    return step;
  }

  /** Other dice and unseen cards from here on. @param {number} seed */
  reseed(seed) {
    const { game, monopoly } = this;
    const record = game.state.record.slice();
    const { offset } = monopoly.manifest.record.fields.find((/** @type {any} */ field) => field.name === "seed");
    const view = new DataView(record.buffer);
    view.setBigInt64(offset, BigInt(seed % 2 ** 32), true);
    view.setBigInt64(offset + 8, BigInt(Math.floor(seed / 2 ** 32)), true);
    monopoly.library.call("monopoly_env.core._shuffle_unseen", [{ data: record, shape: [1] }]);
    game.state = { ...game.state, record };
  }

  /** Back to before the last decision of a person. */
  undo() {
    const own = this.steps.findLast((step) => this.you.includes(step.seat));
    if (!own) throw new Refused("There is no decision to take back.");
    const before = own.version - 1;
    this.kept.seeds = [...this.kept.seeds.filter(([at]) => at < before), [before, newSeed()]];
    this.replay(this.kept.actions.slice(0, before));
    if (before === 0) this.reseed(/** @type {any} */ (this.kept.seeds.at(-1))[1]);
  }

  get digest() { return `${this.kept.id} ${this.version} ${this.kept.seeds.length}`; }

  /** @returns {import("./protocol.js").Frame} */
  frame() {
    const { preset, players, speed, paused, id } = this.kept;
    const changed = this.about.rules.presets[preset];
    const board = changed.board ?? this.about.rules.options.find((/** @type {any} */ option) => option.name === "board").default;
    return {
      game: id, version: this.version, digest: this.digest, record: this.game.observe(), derived: this.game.derive(), rules: { board, changed },
      players: players.map((player, seat) => ({ name: player.name || (player.kind === POLICY ? `${player.policy} ${this.about.letters[seat]}` : `Player ${this.about.letters[seat]}`), kind: player.kind, policy: player.policy ?? null, connected: true })),
      you: this.you, undo: this.steps.some((step) => this.you.includes(step.seat)), speed, paused, stalled: null, chosen: null,
    };
  }

  /** The actions of an offer, or why it can't be made. @param {any} message */
  compose({ to, give, ask }) { return this.game.compose(to, bits(give), bits(ask), give.dollars - ask.dollars); }

  save() {
    this.kept.updated = Date.now();
    localStorage.setItem(KEPT + this.kept.id, JSON.stringify(this.kept));
  }
}

/** Lots and cards as a set of goods. @param {import("./protocol.js").Goods} goods */
const bits = ({ lots, cards }) => [...lots, ...cards.map((card) => (card === "chance" ? 28 : 29))].reduce((set, good) => set | (1 << good), 0);

/** @returns {Promise<any>} */
async function facts() {
  const [monopoly, about] = await Promise.all([library, constants]);
  const policies = monopoly.policies.map((/** @type {string} */ name) => ({ name, plays_on: true }));
  return { ...about, policies, ready: true, host: true, origin: null };
}

/** @param {string} id @returns {Promise<Table>} */
async function open(id) {
  const known = games.get(id);
  if (known) return known;
  const text = localStorage.getItem(KEPT + id);
  if (!text) throw new Refused("There is no such game in this browser.");
  const [monopoly, about] = await Promise.all([library, facts()]);
  const kept = JSON.parse(text);
  await monopoly.fetch(...kept.players.map((/** @type {any} */ player) => player.policy ?? null));
  const table = new Table(monopoly, about, kept);
  games.set(id, table);
  return table;
}

/** The game after so many decisions. @param {Table} table @param {number} number */
function past(table, number) {
  const shown = new Table(table.monopoly, table.about, { ...table.kept, actions: table.kept.actions.slice(0, number) });
  return { frame: { ...shown.frame(), you: [], undo: false, chosen: table.kept.actions[number] ?? null }, step: shown.steps.at(-1) ?? null };
}

/** @param {Kept} kept */
function listed(kept) {
  return { game: kept.id, kind: "live", names: kept.players.map((player) => player.name || player.policy), version: kept.actions.length, turns: 0, over: false, winners: [], updated: new Date(kept.updated).toISOString(), title: "" };
}

/** @param {any} body */
async function begin(body) {
  if (body.position || body.from) throw new Refused(`${WORDS}games begin at their start.`);
  if (Object.keys(body.rules.options).length) throw new Refused(`${WORDS}it plays by presets, without options.`);
  const id = `l${Date.now().toString(36)}`;
  const players = body.seats.map((/** @type {any} */ seat) => (seat.kind === GUEST ? { ...seat, kind: "person" } : seat));
  const kept = { id, players, preset: body.rules.preset, seed: body.seed ?? newSeed(), limit: body.turn_limit ?? 0, speed: body.speed ?? 0.6, paused: false, actions: [], seeds: [], updated: Date.now() };
  localStorage.setItem(KEPT + id, JSON.stringify(kept));
  await open(id);
  return { game: id, watch: "", seats: [] };
}

/** As `ask` of the server. @param {string} method @param {string} path @param {any} [body] @returns {Promise<any>} */
export async function ask(method, path, body) {
  const [, kind, id, part, number] = path.split("/");
  if (kind === "about") return facts();
  if (kind === "puzzles" && !id) return { puzzles: [] };
  if (kind !== "games") throw new Refused(`${WORDS}this needs one.`);
  if (!id && method === "POST") return begin(body);
  if (!id) return { games: Object.keys(localStorage).filter((key) => key.startsWith(KEPT)).map((key) => listed(JSON.parse(localStorage[key]))).sort((a, b) => (a.updated < b.updated ? 1 : -1)) };
  if (method === "DELETE") {
    games.delete(id);
    localStorage.removeItem(KEPT + id);
    return {};
  }
  const table = await open(id);
  if (!part) return { frame: table.frame(), log: table.steps.filter((step) => step.events.length).slice(-LOG), links: null };
  if (part === "frames" && path.split("/").length === 5) return past(table, Number(number));
  if (part === "index") {
    const { steps } = table;
    const end = table.game.observe();
    const before = (/** @type {(step: any) => number} */ of, /** @type {number} */ last) => [...steps.map(of), last];
    return {
      version: table.version, actions: table.kept.actions, opening: [], events: steps.map((step) => step.events), turns: before((step) => step.turn, end.turns),
      seats: before((step) => step.seat, table.game.over ? -1 : end.player), decisions: before(() => 1, end.decision),
    };
  }
  throw new Refused(`${WORDS}this needs one.`);
}

/** As the server's socket of a game. */
export class GameSocket {
  /** @param {string} id @param {(state: any) => void} changed */
  constructor(id, changed) {
    this.changed = changed;
    this.closed = false;
    /** @type {any} */
    this.state = null;
    const others = sockets.get(id) ?? new Set();
    sockets.set(id, others.add(this));
    this.others = others;
    this.opened = open(id).then((table) => {
      this.table = table;
      this.tell({ log: table.steps.filter((step) => step.events.length).slice(-LOG), fresh: [] });
      this.drive();
    }, (error) => this.changed({ error: error.message, online: false }));
  }

  /** @param {any} change */
  tell(change) {
    if (this.closed || !this.table) return;
    this.state = { ...this.state, error: undefined, online: true, ...change, frame: merged(this.state?.frame, this.table.frame()) };
    this.changed(this.state);
  }

  /** Let policies play while somebody looks. */
  async drive() {
    clearTimeout(this.timer);
    const { table } = this;
    if (!table || this.closed || table.game.over || table.kept.paused || !table.seats[table.game.player]) return;
    const steps = [];
    const end = performance.now() + 40;
    do {
      steps.push(table.play());
    } while (!table.game.over && table.seats[table.game.player] && performance.now() < end && (!table.kept.speed || !steps.at(-1)?.events.length));
    table.save();
    this.announce(steps);
    const event = steps.some((step) => step.events.length);
    this.timer = setTimeout(() => this.drive(), event ? 1000 * table.kept.speed : 0);
  }

  /** @param {any[]} steps */
  announce(steps) {
    for (const socket of this.others) socket.tell({ log: [...(socket.state?.log ?? []), ...steps].slice(-2 * LOG), fresh: steps });
  }

  /** @param {any} message @returns {Promise<any>} */
  async send(message) {
    await this.opened;
    const table = /** @type {Table} */ (this.table);
    if (message.type === "preview") {
      const { picks, ...why } = table.compose(message);
      const after = table.game.exchanged(message.to, bits(message.give), bits(message.ask), message.give.dollars - message.ask.dollars);
      return { type: "preview", ...why, record: after.observe(), derived: after.derive() };
    }
    if (message.type === "speed") Object.assign(table.kept, message.speed === undefined ? { paused: message.paused } : { speed: message.speed });
    else if (message.type === "seat") {
      await table.monopoly.fetch(message.policy ?? null);
      table.kept.players[message.seat] = { ...table.kept.players[message.seat], kind: message.kind, policy: message.policy ?? null, name: "" };
      table.game.seats = table.seats;
    } else if (message.type === "name") table.kept.players[message.seat].name = message.name;
    else if (message.type === "undo") {
      table.undo();
      table.save();
      for (const socket of this.others) socket.tell({ log: table.steps.filter((step) => step.events.length).slice(-LOG), fresh: [] });
      return { type: "done" };
    } else this.announce(this.moves(table, message).map((action) => table.apply(action)));
    table.save();
    if (["speed", "seat", "name"].includes(message.type)) this.announce([]);
    this.drive();
    return { type: "done" };
  }

  /** The actions that a message asks for. @param {Table} table @param {any} message @returns {number[]} */
  moves(table, message) {
    const { game } = table;
    if (message.type === "act" && message.action === undefined) throw new Refused(`There is no move ${message.text}. Choose one of the list.`);
    if (message.type === "act") return [message.action];
    if (message.type === "offer") {
      const { picks, reason } = table.compose(message);
      if (reason) throw new Refused("This offer can't be made now.");
      return picks;
    }
    const start = table.about.heads.find((/** @type {any} */ head) => head.name === "bid").start;
    const { cost, bid_base: base, bid_limit: most } = game.derive();
    const { notes } = table.about;
    const open = game.legal().find((/** @type {number} */ action) => cost[action] === message.dollars);
    if (table.about.decisions[game.field("decision")] !== "sealed_bid") {
      if (open === undefined) throw new Refused("This bid can't be made now.");
      return [open];
    }
    if (message.dollars < base || message.dollars > most) throw new Refused("This bid can't be made now.");
    let left = message.dollars - base;
    return [...notes.flatMap((/** @type {number} */ note, /** @type {number} */ place) => {
      const count = Math.floor(left / note);
      left -= count * note;
      return Array(count).fill(start + notes.length - place);
    }), start];
  }

  /** @param {any} message */
  act(message) { return this.send(message); }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    this.others.delete(this);
  }
}

const EACH = 32; // playouts of a position, and of each action, in a round

/** Workers on all cores but one. */
class Workers {
  constructor() {
    this.count = Math.max(1, Math.min(8, (navigator.hardwareConcurrency || 2) - 1));
    this.given = 0;
    /** @type {Worker[]} */
    this.workers = [];
    /** @type {Map<number, {resolve: (shares: Float32Array) => void, reject: (error: Error) => void}>} */
    this.waiting = new Map();
  }

  /** The shares of the win of each seat in each playout. @param {any} state @param {any} options of `rollout` @returns {Promise<Float32Array>} */
  rollout(state, options) {
    const number = this.given++;
    const worker = (this.workers[number % this.count] ??= this.begin());
    return new Promise((resolve, reject) => {
      this.waiting.set(number, { resolve, reject });
      worker.postMessage({ number, state, options });
    });
  }

  begin() {
    const worker = new Worker(new URL("./playouts.js", import.meta.url), { type: "module" });
    worker.onmessage = ({ data: { number, shares, error } }) => {
      const { resolve, reject } = /** @type {any} */ (this.waiting.get(number));
      this.waiting.delete(number);
      if (error) reject(new Refused(error));
      else resolve(shares);
    };
    return worker;
  }
}
const workers = new Workers();

/** As the server's socket of analyses: one job at a time, refined until another begins. */
export class AnalysisSocket {
  /** @param {(answer: any) => void} heard */
  constructor(heard) {
    this.heard = heard;
    this.number = 0;
  }

  /** @param {any} job */
  async start(job) {
    const number = ++this.number;
    try {
      for await (const answer of analyse(job)) {
        if (number !== this.number) return;
        this.heard({ ...answer, id: number });
        await new Promise((next) => setTimeout(next));
      }
    } catch (error) {
      this.heard({ type: "refused", id: number, error: /** @type {Error} */ (error).message });
    }
  }

  stop() { this.number++; }

  close() { this.stop(); }
}

/** Shares of the win, now and after each action, over the same playouts. @param {any} job @returns {AsyncGenerator<any>} */
async function* analyse(job) {
  if (job.type !== "analyse" || !job.target.game) throw new Refused(`${WORDS}this analysis needs one.`);
  const table = await open(job.target.game);
  const [began, policy] = [performance.now(), typeof job.policies === "string" ? job.policies : job.policies[0]];
  await table.monopoly.fetch(policy);
  const game = job.target.version === table.version ? table.game : new Table(table.monopoly, table.about, { ...table.kept, actions: table.kept.actions.slice(0, job.target.version) }).game;
  const [seat, players] = [game.player, game.players];
  const offering = ["trade_ask", "trade_give", "trade_cash"].includes(table.about.decisions[game.field("decision")]);
  const heads = table.about.heads.filter((/** @type {any} */ head) => head.name === "trade");
  const isOffer = (/** @type {number} */ action) => action >= heads[0].start && action < heads[0].start + 7;
  const actions = job.actions && !offering ? game.legal().filter((/** @type {number} */ action) => !isOffer(action)) : [];
  const own = /** @type {Map<number, number[]>} */ (new Map(actions.map((/** @type {number} */ action) => [action, []])));
  const now = Array.from({ length: players }, () => /** @type {number[]} */ ([]));
  const answer = (/** @type {boolean} */ done) => ({
    type: "analysis", playouts: now[0].length, seconds: (performance.now() - began) / 1000, policies: Array(players).fill(policy), confidence: 0.95,
    shares: now.map((all, other) => ({ seat: other, ...interval(all, "share") })), candidates: compared(own), done,
  });
  for (let first = 0; first < job.most; first += EACH) {
    const play = (/** @type {any} */ more) => workers.rollout(game.state, { policies: policy, n: EACH, first, ...more });
    const [position, ...after] = [play({}), ...actions.map((/** @type {number} */ action) => play({ action }))];
    (await position).forEach((share, at) => now[at % players].push(share));
    if (first === 0) yield answer(false); // soon
    const played = await Promise.all(after);
    played.forEach((shares, number) => {
      for (let at = seat; at < shares.length; at += players) own.get(actions[number])?.push(shares[at]);
    });
    yield answer(first + EACH >= job.most);
  }
}

/** The mean of numbers with its interval of 95%. @param {number[]} all @param {string} name */
function interval(all, name) {
  const mean = all.reduce((sum, each) => sum + each, 0) / all.length;
  const spread = Math.sqrt(all.reduce((sum, each) => sum + (each - mean) ** 2, 0) / Math.max(1, all.length - 1) / all.length);
  return { [name]: mean, low: mean - 1.96 * spread, high: mean + 1.96 * spread };
}

/** The actions, the best first, the others with their distance over the same playouts. @param {Map<number, number[]>} own */
function compared(own) {
  const rows = [...own].filter(([, all]) => all.length).map(([action, all]) => ({ action, all, text: "", playouts: all.length, shares: [], ...interval(all, "share") }));
  const best = rows.reduce((most, row) => (/** @type {any} */ (row).share > /** @type {any} */ (most).share ? row : most), rows[0]);
  return rows.map(({ all, ...row }) => {
    const { difference, low, high } = /** @type {any} */ (interval(all.map((share, at) => share - best.all[at]), "difference"));
    return { ...row, difference, difference_low: low, difference_high: high };
  }).sort((a, b) => (a.action === best?.action ? -1 : b.action === best?.action ? 1 : b.difference - a.difference));
}

