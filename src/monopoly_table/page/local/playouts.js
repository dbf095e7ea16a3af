/** Playouts on several workers. As a worker's own script, this module plays them. */
import { load } from "../../../monopoly_env/browser/monopoly.js";

const AT_ONCE = 48; // playouts of one errand
const MOST_WORKERS = 8;

/**
 * @typedef {{record: Uint8Array, n: number, first: number, action?: number}} Position from which to play on, with a first action or without
 * @typedef {{positions: Position[], policies: string[], turns?: number}} Errand
 */

/** Workers that share playouts; returns what asks them. @param {Record<string, any>} files of the library @returns {(errand: Errand) => Promise<Float32Array[]>} */
export function recruit(files) {
  /** @type {((worker: Worker) => void)[]} */
  const waiting = [];
  const idle = Array.from({ length: Math.max(1, Math.min(MOST_WORKERS, navigator.hardwareConcurrency - 1)) }, () => {
    const worker = new Worker(new URL("./playouts.js", import.meta.url), { type: "module", name: "playouts" });
    worker.postMessage(files);
    return worker;
  });
  /** @param {Errand} errand @returns {Promise<Float32Array[]>} */
  const send = async (errand) => {
    const worker = /** @type {Worker} */ (idle.pop() ?? await new Promise((resolve) => waiting.push(resolve)));
    const answer = await new Promise((resolve) => {
      worker.onmessage = resolve;
      worker.postMessage(errand);
    });
    const next = waiting.shift();
    if (next) next(worker);
    else idle.push(worker);
    if (answer.data.error) throw new Error(answer.data.error);
    return answer.data;
  };

  // the shares in each playout of each position, one seat after the other
  return async ({ positions, ...others }) => {
    const parts = positions.flatMap((position, number) => Array.from({ length: Math.ceil(position.n / AT_ONCE) }, (_, part) => ({
      number, position: { ...position, first: position.first + AT_ONCE * part, n: Math.min(AT_ONCE, position.n - AT_ONCE * part) } })));
    /** @type {(typeof parts)[]} */
    const errands = [];
    let size = AT_ONCE;
    for (const part of parts) {
      if (size >= AT_ONCE) size = errands.push([]) && 0;
      /** @type {any} */ (errands.at(-1)).push(part);
      size += part.position.n;
    }
    const found = await Promise.all(errands.map((errand) => send({ positions: errand.map(({ position }) => position), ...others })));
    const shares = found.flat();
    return positions.map((_, number) => joined(shares.filter((_, place) => parts[place].number === number)));
  };
}

/** @param {Float32Array[]} parts */
export function joined(parts) {
  const all = new Float32Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

// --- in a worker

if (globalThis.self?.name === "playouts") {
  /** @type {Promise<import("../../../monopoly_env/browser/monopoly.js").Monopoly>} */
  let library;
  globalThis.onmessage = async ({ data }) => {
    if (!data.positions) return void (library = load(async (path) => data[path]));
    const monopoly = await library, { progress } = monopoly.manifest;
    const players = data.policies.length, memory = new Float64Array(players * monopoly.manifest.constants.memory);
    try {
      postMessage(data.positions.map((/** @type {Position} */ { record, n, first, action }) => monopoly.open({ record, memory, progress: new Uint8Array(progress.size), actions: [] })
        .rollout({ policies: data.policies, n, first, action, turns: data.turns }).shares));
    } catch (error) {
      postMessage({ error: /** @type {Error} */ (error).message });
    }
  };
}
