/** The games of this browser, in IndexedDB: a row for each, and the moments to which it can be taken back. */

const LOST = "This browser keeps no games: its storage is full or blocked. This one goes on, but closing the tab ends it.";

const ELSEWHERE = "This game went on in another tab: what is done here is not kept. Reload this tab to see it.";

/** @param {IDBRequest<any>} asked @returns {Promise<any>} */
const done = (asked) => new Promise((resolve, reject) => {
  asked.onsuccess = () => resolve(asked.result);
  asked.onerror = () => reject(asked.error);
});

/** @returns {Promise<IDBDatabase>} */
function open() {
  const asked = indexedDB.open("monopoly-table", 1);
  asked.onupgradeneeded = () => {
    asked.result.createObjectStore("games", { keyPath: "game" });
    asked.result.createObjectStore("moments", { keyPath: ["game", "version"] });
  };
  return done(asked);
}

/** Rows by game. What the disk refuses stays in memory, and `fault` says so. */
export class Store {
  fault = "";
  /** @type {Map<string, any>} */
  #memory = new Map();
  /** When each game was last written, as far as this tab knows. @type {Map<string, string>} */
  #known = new Map();
  /** @type {Promise<IDBDatabase>|undefined} */
  #base;

  /**
   * @param {IDBTransactionMode} mode
   * @param {(games: IDBObjectStore, moments: IDBObjectStore) => any} work
   */
  async #do(mode, work) {
    this.#base ??= open();
    const steps = (await this.#base).transaction(["games", "moments"], mode);
    const ended = new Promise((resolve, reject) => {
      steps.oncomplete = resolve;
      steps.onabort = () => reject(steps.error);
    });
    const result = await work(steps.objectStore("games"), steps.objectStore("moments"));
    await ended;
    return result;
  }

  /** Save a row, with a moment to come back to or without those from `undone` on. @param {any} row @param {{moment?: any, undone?: number}} [more] */
  async save(row, { moment, undone } = {}) {
    const updated = row.updated = new Date().toISOString();
    this.#memory.set(row.game, row);
    let reason = LOST;
    try {
      await this.#do("readwrite", async (games, moments) => {
        const kept = await done(games.get(row.game));
        if (kept && kept.updated !== this.#known.get(row.game)) throw new Error(reason = ELSEWHERE);
        games.put(row);
        if (moment) moments.put({ game: row.game, ...moment });
        if (undone !== undefined) moments.delete(all(row.game, undone));
      });
      this.#known.set(row.game, updated);
      this.#memory.delete(row.game);
      if (!this.#memory.size) this.fault = "";
    } catch {
      this.fault = reason;
    }
  }

  /** @param {string} game @returns {Promise<any>} */
  async find(game) {
    if (this.#memory.has(game)) return this.#memory.get(game);
    const row = await this.#do("readonly", (games) => done(games.get(game))).catch(() => undefined);
    if (row) this.#known.set(game, row.updated);
    return row;
  }

  /** The moments of a game, the earliest first. @param {string} game @returns {Promise<any[]>} */
  moments(game) { return this.#do("readonly", (_, moments) => done(moments.getAll(all(game)))).catch(() => []); }

  /** All rows, the newest first. @returns {Promise<any[]>} */
  async rows() {
    const kept = await this.#do("readonly", (games) => done(games.getAll())).catch(() => []);
    const rows = [...kept.filter((/** @type {any} */ row) => !this.#memory.has(row.game)), ...this.#memory.values()];
    return rows.sort((one, other) => other.updated.localeCompare(one.updated));
  }

  /** @param {string} game */
  async remove(game) {
    this.#memory.delete(game);
    await this.#do("readwrite", (games, moments) => {
      games.delete(game);
      moments.delete(all(game));
    }).catch(() => {});
  }
}

/** The keys of a game's moments from a version on. @param {string} game @param {number} [from] */
const all = (game, from = 0) => IDBKeyRange.bound([game, from], [game, Infinity]);
