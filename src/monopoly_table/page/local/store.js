/** The games of this browser, in IndexedDB: a row for each, and the moments to which it can be taken back. */

const LOST = "This browser keeps no games: its storage is full or blocked. This one goes on, but closing the tab ends it.";

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
    row.updated = new Date().toISOString();
    this.#memory.set(row.game, row);
    try {
      await this.#do("readwrite", (games, moments) => {
        games.put(row);
        if (moment) moments.put({ game: row.game, ...moment });
        if (undone !== undefined) moments.delete(all(row.game, undone));
      });
      this.#memory.delete(row.game);
    } catch {
      this.fault = LOST;
    }
  }

  /** @param {string} game @returns {Promise<any>} */
  async find(game) {
    return this.#memory.get(game) ?? this.#do("readonly", (games) => done(games.get(game))).catch(() => undefined);
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
