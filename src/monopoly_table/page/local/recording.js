/** Games as sequences of frames, and as files: those of `monopoly_env.replays`. */
import { Refusal, mark } from "./engine.js";

const BID_ACTIONS = 8; // done, and the notes of a sealed bid

/** The players as frames have them. @param {any} row @param {any} about @returns {{name: string, kind: string, policy: string|null, connected: boolean}[]} */
export const playersOf = (row, about) => row.seats.map((/** @type {any} */ { name, kind, policy }, /** @type {number} */ seat) =>
  ({ name: name || `${kind === "policy" && policy ? policy : "Player"} ${about.letters[seat]}`, kind, policy, connected: true }));

/** The players' names. @param {any} row @param {any} about */
export const namesOf = (row, about) => playersOf(row, about).map(({ name }) => name);

export class Recording {
  /** @type {Uint8Array[]} */
  #records;
  /** The events of each step. @type {number[][][]} */
  #rows = [];

  /** @param {import("./engine.js").Engine} engine @param {any} row */
  constructor(engine, row) {
    this.engine = engine;
    this.row = row;
    if (row.versions !== engine.about.rules_version) throw new Refusal("This game was played by another version of the rules: it can't be replayed here.", 422);
    const begun = { players: row.seats.length, rules: engine.rules({ options: row.rules }), seed: row.seed };
    this.opening = row.start ? [] : engine.monopoly.opening(begun);
    const first = row.start ?? engine.monopoly.newGame(begun).state.record;
    this.#records = [this.#redrawn(first.slice(), 0)];
    for (const action of row.actions) this.#go(action);
    this.actions = [...row.actions];
    if (row.kind === "live" && engine.sealed(engine.read(this.record(this.version)))) { // bids that are not open yet
      const first = engine.head("bid");
      while (this.version && this.actions[this.version - 1] >= first && this.actions[this.version - 1] < first + BID_ACTIONS) this.actions.pop();
    }
  }

  /** @param {number} action */
  #go(action) {
    const before = /** @type {Uint8Array} */ (this.#records.at(-1)), { engine, row } = this, number = this.#records.length;
    if (engine.read(before).decision === 0) throw new Refusal("The recording goes on after the end of its game.", 422);
    const game = engine.open(before, row.turn_limit || undefined);
    try {
      game.apply(action);
    } catch {
      throw new Refusal(`The recording can't be played: its action ${number} is illegal.`, 422);
    }
    const { record } = game.state;
    this.#rows.push(engine.events(before, action, record));
    this.#records.push(this.#redrawn(record, number));
  }

  /** A record with the new dice that it has from here on. @param {Uint8Array} record @param {number} number */
  #redrawn(record, number) {
    for (const [at, seed] of this.row.reseeds) if (at === number) this.engine.reseed(record, BigInt(seed));
    return record;
  }

  /** The number of the last frame. */
  get version() { return this.actions.length; }

  /** The record after so many decisions. @param {number} number */
  record(number) {
    if (!(number >= 0 && number <= this.#records.length - 1)) throw new Refusal(`The game has the frames 0 to ${this.version}, not ${number}.`, 404);
    return this.#records[number];
  }

  /** The step that leads to a frame. @param {number} number */
  step(number) {
    const { player: seat, turns: turn } = this.engine.read(this.record(number - 1));
    return { version: number, seat, action: this.actions[number - 1], events: this.#rows[number - 1], digest: mark(this.record(number)), turn };
  }

  /** @param {number} number */
  frame(number) {
    if (number > this.version) throw new Refusal(`The game has the frames 0 to ${this.version}, not ${number}.`, 404);
    return { ...this.engine.frame(this.record(number), playersOf(this.row, this.engine.about), number), game: this.row.game, chosen: this.actions[number] ?? null };
  }

  index() {
    const facts = Array.from({ length: this.version + 1 }, (_, number) => this.engine.read(this.record(number)));
    return {
      version: this.version, turns: facts.map(({ turns }) => turns), seats: facts.map(({ decision, player }) => (decision ? player : -1)), decisions: facts.map(({ decision }) => decision),
      opening: this.opening, actions: this.actions, events: this.#rows.slice(0, this.version),
    };
  }

  /** The file of the game. */
  async file() {
    const { row, engine } = this, last = this.record(this.version).slice();
    if (row.kind === "live" && engine.read(last).decision !== 0) throw new Refusal("The game is not over: its file would tell what is to come.", 409);
    if (row.start) throw new Refusal("This game began at a position: a replay file holds games from their start only.", 409);
    const board = engine.changed(engine.read(last).rules).board ?? engine.about.board;
    const about = {
      names: namesOf(row, engine.about), rules: row.rules, tables: engine.about.tables[board], turn_limit: row.turn_limit, decisions: this.version, digest: await this.#digest(last),
    };
    // whole numbers of 64 bits, which JSON.stringify can't write
    const reseeds = row.reseeds.map((/** @type {any[]} */ [at, seed]) => `[${at},${seed}]`);
    const text = `{"seed":${row.seed},${reseeds.length ? `"reseeds":[${reseeds}],` : ""}${JSON.stringify(about).slice(1)}`;
    const block = new Blob([`[${text}]\n`, Uint8Array.from(this.actions)]);
    const packed = await new Response(block.stream().pipeThrough(new CompressionStream("deflate"))).arrayBuffer();
    return new Blob([JSON.stringify({ ...engine.about.replays, games: 1, bytes: block.size }), "\n", packed], { type: "application/octet-stream" });
  }

  /** The hash of a record, or nothing where the browser has none. @param {Uint8Array} record */
  async #digest(record) {
    if (!globalThis.crypto?.subtle) return "";
    this.engine.clear(record, "policy_draws");
    return this.engine.open(record).digest();
  }
}

const DAMAGED = "It is cut or damaged: copy the link from its beginning to its end, or take the whole file.";

/** The games of a file, as rows. @param {import("./engine.js").Engine} engine @param {Blob} file @returns {Promise<any[]>} */
export async function readFile(engine, file) {
  const data = new Uint8Array(await file.arrayBuffer()), end = data.indexOf(10);
  const header = parsed(new TextDecoder().decode(data.subarray(0, Math.max(0, end))));
  if (header?.format !== engine.about.replays.format) throw new Refusal(`This is no recorded game. ${DAMAGED}`, 422);
  const differing = Object.keys(engine.about.replays).filter((name) => JSON.stringify(header[name]) !== JSON.stringify(engine.about.replays[name]));
  if (differing.length) throw new Refusal(`This game was recorded by another version of the rules (${differing.join(", ")}): it can't be replayed here.`, 422);
  const block = await inflated(data.subarray(end + 1)), line = block.indexOf(10);
  if (block.length !== header.bytes || line < 0) throw new Refusal(DAMAGED, 422);
  const games = parsed(quoted(new TextDecoder().decode(block.subarray(0, line))));
  let at = line + 1;
  const rows = games?.map((/** @type {any} */ about) => {
    const actions = block.slice(at, at += about.decisions), board = about.rules.board ?? engine.about.board;
    if (about.tables !== engine.about.tables[board]) throw new Refusal(`It was recorded with another version of the board ${board}.`, 422);
    const seats = about.names.map((/** @type {string} */ name) => ({ kind: "policy", policy: null, name: name.slice(0, 40) }));
    const reseeds = (about.reseeds ?? []).map((/** @type {any} */ [number, seed]) => [number, BigInt(seed)]);
    return { kind: "replay", seats, rules: about.rules, seed: BigInt(about.seed), turn_limit: about.turn_limit, reseeds, actions, start: null, digest: about.digest };
  });
  if (!rows?.length || at !== block.length) throw new Refusal(DAMAGED, 422);
  return rows;
}

/** Seeds as texts: numbers beyond 2**53 would lose digits. @param {string} text */
const quoted = (text) => text.replace(/"seed":\s*(\d+)/g, '"seed":"$1"').replace(/"reseeds":\s*\[[\d\s,[\]]*\]/g, (list) => list.replace(/,\s*(\d+)\s*\]/g, ',"$1"]'));

/** @param {Uint8Array} packed */
async function inflated(packed) {
  try {
    const stream = new Blob([/** @type {any} */ (packed)]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch {
    throw new Refusal(DAMAGED, 422);
  }
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
