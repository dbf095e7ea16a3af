/** The keeper of the games in a page without a server: it answers as docs/protocol.md says. */
import { load } from "../../../monopoly_env/browser/monopoly.js";
import { analyse, analyseThrow, curve, weigh } from "./analysis.js";
import { Engine, Refusal, newSeed } from "./engine.js";
import { Live, checked, statusOf } from "./live.js";
import { picksOf } from "./offers.js";
import { recruit } from "./playouts.js";
import { Recording, namesOf, readFile } from "./recording.js";
import { report } from "./report.js";
import { Store } from "./store.js";

const UNKNOWN = 404;
const [ELSEWHERE, GONE] = [4409, 4404]; // why a socket is closed
const LISTED = 200;
const LEAVING = 300; // milliseconds in which this tab's last socket lets a game go

/** The files, all fetched at the start: afterwards the network may go. */
async function open() {
  const base = new URL("../library/", self.location.href);
  const read = async (/** @type {URL} */ url) => {
    const response = await fetch(url);
    if (!response.ok) throw new Refusal(`${url.pathname} can't be loaded: status ${response.status}.`, 503);
    return response.arrayBuffer();
  };
  const names = ["monopoly.wasm", "monopoly.json"];
  const [constants, puzzles, ...code] = await Promise.all([...["about.json", "puzzles.json"].map((name) => read(new URL(`../${name}`, base))), ...names.map((name) => read(new URL(name, base)))]);
  const files = Object.fromEntries(names.map((name, place) => [name, code[place]]));
  const parsed = (/** @type {ArrayBuffer} */ data) => JSON.parse(new TextDecoder().decode(data));
  const monopoly = await load(async (path) => files[path] ?? read(new URL(path, base)));
  return new Table(new Engine(monopoly, parsed(constants)), new Store(), recruit(files), parsed(puzzles));
}

export class Table {
  /** The games that are looked at. @type {Map<string, Promise<Live>>} */
  #live = new Map();
  /** @type {{key?: string, recording?: Recording}} */
  #kept = {};

  /** @param {Engine} engine @param {Store} store @param {import("./analysis.js").Means["rollout"]} rollout @param {any} puzzles */
  constructor(engine, store, rollout, puzzles) {
    this.engine = engine;
    this.store = store;
    this.rollout = rollout;
    this.puzzles = puzzles;
  }

  // --- games

  /** @param {string} game @returns {Promise<any>} */
  async row(game) {
    const row = await (await this.#live.get(game))?.row ?? await this.store.find(game);
    if (!row) throw new Refusal(`There is no game ${game} in this browser: it was removed, or the link is of another one.`, UNKNOWN);
    return row;
  }

  /** A game that is played. @param {string} game */
  live(game) {
    if (!this.#live.has(game)) {
      const found = this.#open(game);
      this.#live.set(game, found);
      found.catch(() => this.#live.delete(game));
    }
    return /** @type {Promise<Live>} */ (this.#live.get(game));
  }

  /** @param {string} game */
  async #open(game) {
    const row = await this.row(game);
    if (row.kind !== "live") throw new Refusal(`The game ${game} is a recording.`, UNKNOWN);
    await this.engine.monopoly.fetch(...row.seats.map((/** @type {any} */ seat) => seat.policy));
    return new Live(this.engine, this.store, row, await this.store.moments(game));
  }

  /** Let a game go that nobody looks at: another tab may go on with it. @param {string} game */
  async forget(game) {
    await (await this.#live.get(game))?.saved();
    this.#live.delete(game);
  }

  /** A game frame by frame. @param {string} game */
  async recording(game) {
    const row = await this.row(game), key = `${game} ${row.actions.length} ${row.updated}`;
    if (this.#kept.key !== key) this.#kept = { key, recording: new Recording(this.engine, row) };
    return /** @type {Recording} */ (this.#kept.recording);
  }

  /** @param {any} wish */
  async begin({ rules, seats, seed = null, speed = 0.6, paused = false, turn_limit = 1000, position, from }) {
    const { engine } = this, given = seed === null ? newSeed() : BigInt(seed);
    const seated = await Promise.all(seats.map((/** @type {any} */ seat) => checked(engine, seat, seats.length)));
    let record, start = null;
    if (from) record = start = engine.reseed((await this.recording(from.game)).record(from.version).slice(), given);
    else if (position) record = start = engine.build(position, given).record;
    else record = engine.monopoly.newGame({ players: seats.length, rules: engine.rules(rules ?? {}), seed: given }).state.record;
    const facts = engine.read(record);
    if (facts.num_players !== seats.length) throw new Refusal(`The position has ${facts.num_players} players, and ${seats.length} seats are given.`);
    if (!facts.decision) throw new Refusal("The game is over at this position: there is nothing to play.");
    const { memory, progress } = engine.open(record).state;
    const row = {
      game: `g${newSeed().toString(16).padStart(16, "0").slice(0, 12)}`, kind: "live", seats: seated, rules: engine.changed(facts.rules), seed: given, turn_limit, speed, paused,
      reseeds: [], start, state: { record, memory, progress }, actions: new Uint8Array(0), versions: engine.about.rules_version, ...statusOf(engine, record),
    };
    await this.store.save(row);
    return { game: row.game, watch: "", seats: [] };
  }

  /** Keep the games of a file, or of a link. @param {Blob} file */
  async upload(file) {
    const rows = [];
    for (const [number, about] of (await readFile(this.engine, file)).entries()) {
      const row = { ...about, game: `r${newSeed().toString(16).padStart(16, "0").slice(0, 11)}${number % 10}`, versions: this.engine.about.rules_version, speed: 0, paused: true };
      const recording = new Recording(this.engine, row);
      Object.assign(row, statusOf(this.engine, recording.record(recording.version)));
      await this.store.save(row);
      rows.push(this.#listed(row));
    }
    return { games: rows, left_out: 0 };
  }

  /** @param {any} row */
  #listed(row) {
    const { game, kind, updated, turns, over, winners } = row;
    return { game, kind, version: row.actions.length, updated, title: "", names: namesOf(row, this.engine.about), turns, over, winners };
  }

  async games() { return { games: (await this.store.rows()).slice(0, LISTED).map((row) => this.#listed(row)) }; }

  /** @param {string} game */
  async state(game) {
    const row = await this.row(game);
    if (row.kind === "live") return { ...(await (this.#live.get(game) ?? this.#open(game))).state(), links: null };
    const recording = await this.recording(game);
    return { frame: recording.frame(recording.version), log: [], links: null };
  }

  /** @param {string} game */
  async remove(game) {
    await this.row(game);
    const live = await this.#live.get(game);
    live?.close();
    await live?.saved();
    this.#live.delete(game);
    await this.store.remove(game);
    return {};
  }

  // --- positions and puzzles

  /** @param {any} setup */
  shown(setup) {
    const { engine } = this, { record, moment } = engine.build(setup);
    const before = engine.isBeforeThrow(setup), players = engine.about.letters.slice(0, setup.players.length);
    if (before) engine.clear(moment, "decision", "legal"); // nobody decides
    return { frame: engine.frame(before ? moment : record, players.map((/** @type {string} */ letter) => ({ name: `Player ${letter}`, kind: "policy", policy: null, connected: false })), 0) };
  }

  /** @param {string} number */
  puzzle(number) {
    const found = this.puzzles.puzzles[Number(number)];
    if (!found) throw new Refusal(`There is no puzzle ${number}: there are ${this.puzzles.puzzles.length}, from 0.`, UNKNOWN);
    return found;
  }

  // --- analyses

  /** The messages of a job. @param {any} job @returns {Promise<AsyncGenerator<any>>} */
  async steps(job) {
    const { engine } = this, most = job.most ?? 20_000, turns = job.turns ?? undefined;
    if (job.type === "curve" || job.type === "report") {
      const recording = await this.recording(job.game), policies = this.#policies(job, recording.row.seats.length);
      return job.type === "curve" ? curve(this, recording, { policies, points: job.points ?? 80, playouts: job.playouts ?? 200 })
        : report(this, recording, namesOf(recording.row, engine.about), { policies, playouts: job.playouts ?? 60 });
    }
    const { position } = job.target;
    if (job.type === "analyse" && position && engine.isBeforeThrow(position)) return analyseThrow(this, position, { policies: this.#policies(job, position.players.length), most, turns });
    const record = await this.#target(job.target), { num_players: players } = engine.read(record), policies = this.#policies(job, players);
    if (job.type === "offer") return weigh(this, record, picksOf(engine, record, job), { policies, most });
    return analyse(this, record, { policies, actions: job.actions ?? true, most, turns });
  }

  /** @param {any} target */
  async #target({ game, version, position, puzzle }) {
    if (position) return this.engine.build(position).record;
    if (puzzle !== undefined && puzzle !== null) return Uint8Array.from(atob(this.puzzle(puzzle).record), (letter) => letter.charCodeAt(0));
    return (await this.recording(game)).record(version);
  }

  /** @param {any} job @param {number} players */
  #policies({ policies = "expert" }, players) {
    const all = typeof policies === "string" ? Array(players).fill(policies) : policies;
    if (all.length !== players) throw new Refusal(`${all.length} policies are given for ${players} seats: give one for all, or one a seat.`);
    this.engine.monopoly.seat(all, players);
    return all;
  }
}

/** @type {[string, RegExp, (table: Table, parts: string[], body: any) => any][]} */
const ROUTES = [
  ["GET", /^\/about$/, (table) => table.engine.about],
  ["POST", /^\/games$/, (table, _, body) => table.begin(body)],
  ["GET", /^\/games$/, (table) => table.games()],
  ["GET", /^\/games\/(\w+)$/, (table, [game]) => table.state(game)],
  ["DELETE", /^\/games\/(\w+)$/, (table, [game]) => table.remove(game)],
  ["GET", /^\/games\/(\w+)\/frames\/(\d+)$/, async (table, [game, number]) => {
    const recording = await table.recording(game);
    return { frame: recording.frame(Number(number)), step: Number(number) ? recording.step(Number(number)) : null };
  }],
  ["GET", /^\/games\/(\w+)\/frames\/(\d+)\/position$/, async (table, [game, number]) => table.engine.setup((await table.recording(game)).record(Number(number)))],
  ["GET", /^\/games\/(\w+)\/index$/, async (table, [game]) => (await table.recording(game)).index()],
  ["GET", /^\/games\/(\w+)\/replay$/, async (table, [game]) => (await table.recording(game)).file()],
  ["POST", /^\/replays$/, (table, _, body) => table.upload(body)],
  ["POST", /^\/positions$/, (table, _, body) => table.shown(body)],
  ["GET", /^\/puzzles$/, (table) => ({ puzzles: table.puzzles.puzzles.map((/** @type {any} */ { listed }) => listed) })],
  ["GET", /^\/puzzles\/(\d+)$/, (table, [number]) => table.puzzle(number).asked],
  ["POST", /^\/puzzles\/(\d+)\/guess$/, (table, [number], { action }) => {
    const { best, candidates } = table.puzzle(number);
    return { right: action === best, best, candidates };
  }],
];

/** @param {Table} table @param {{method: string, path: string, body?: any}} asked @returns {Promise<{status: number, content: any}>} */
export async function answer(table, { method, path, body }) {
  for (const [verb, pattern, carryOut] of ROUTES) {
    const [, ...parts] = path.match(pattern) ?? [];
    if (verb !== method || !pattern.test(path)) continue;
    try {
      return { status: 200, content: await carryOut(table, parts, body) };
    } catch (error) {
      return { status: error instanceof Refusal ? error.status : 400, content: { error: /** @type {Error} */ (error).message } };
    }
  }
  return { status: UNKNOWN, content: { error: "A table without a server can't do this." } };
}

// --- sockets

/** Serve the socket of a game. @param {Table} table @param {MessagePort} port @param {string} game */
async function play(table, port, game) {
  const send = (/** @type {any} */ message) => port.postMessage(JSON.stringify(message));
  let leave = () => {};
  const left = new Promise((resolve) => { leave = () => resolve(null); });
  /** @type {Live|null} */
  let live = null;
  port.onmessage = async ({ data }) => {
    if (data === null) return leave();
    const message = JSON.parse(data);
    if (!live || message.type === "hello") return live && send({ type: "state", ...live.state() });
    try {
      return send({ ...await live.handle(message), id: message.id });
    } catch (error) {
      return send({ type: "refused", id: message.id, error: /** @type {Error} */ (error).message, version: live.actions.length });
    }
  };
  await alone(game, async (free) => {
    if (!free) return port.postMessage({ code: ELSEWHERE, reason: "This game is open in another tab, where it goes on. Here it opens when that tab is closed." });
    try {
      live = await table.live(game);
    } catch (error) {
      return port.postMessage({ code: GONE, reason: /** @type {Error} */ (error).message });
    }
    live.enter(send);
    await left;
    if (!live.leave(send)) await table.forget(game);
    return undefined;
  });
}

/** Hold a game for this tab while its socket is open. @param {string} game @param {(free: boolean) => Promise<any>} work */
async function alone(game, work) {
  if (!navigator.locks) return work(true);
  let free = false;
  const held = (/** @type {any} */ _) => work(free = true);
  return navigator.locks.request(`monopoly-table ${game}`, { signal: AbortSignal.timeout(LEAVING) }, held).catch((error) => {
    if (free) throw error;
    return work(false);
  });
}

/** Serve the socket of analyses. @param {Table} table @param {MessagePort} port */
function analyses(table, port) {
  let current = {};
  const send = (/** @type {any} */ message) => port.postMessage(JSON.stringify(message));
  port.onmessage = async ({ data }) => {
    const job = current = {};
    const message = data && JSON.parse(data);
    if (message?.type === "hello") return send({ type: "ready" });
    if (!message || message.type === "stop") return undefined;
    try {
      for await (const step of await table.steps(message)) {
        if (current !== job) return undefined;
        send({ ...step, id: message.id });
      }
    } catch (error) {
      send({ type: "refused", id: message.id, error: /** @type {Error} */ (error).message });
    }
    return undefined;
  };
}

if (typeof self === "object" && "onmessage" in self) {
  const opened = open();
  opened.catch(() => {});
  self.onmessage = async ({ data, ports }) => {
    const { id, path } = data;
    try {
      const table = await opened;
      if (id) return self.postMessage({ id, ...await answer(table, data) });
      return path === "/analyse" ? analyses(table, ports[0]) : play(table, ports[0], path.split("/")[2]);
    } catch (error) {
      const reason = /** @type {Error} */ (error).message;
      return id ? self.postMessage({ id, status: 503, content: { error: reason } }) : ports[0].postMessage({ code: GONE, reason });
    }
  };
}
