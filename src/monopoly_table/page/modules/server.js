/** The connection to the server: HTTP, the socket of a game and the socket of analyses (docs/protocol.md). */

import { Refused, place } from "./address.js";
import { merged } from "./facts.js";
import { connect, request } from "./transport.js";

export { Refused, address, go, place } from "./address.js";

/**
 * Ask the server.
 * @param {string} method
 * @param {string} path below /api
 * @param {any} [body] JSON, or a Blob that is sent as it is
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export async function ask(method, path, body, signal) {
  const { token = "" } = place();
  const raw = body instanceof Blob;
  /** @type {Record<string, string>} */
  const headers = { Authorization: `Bearer ${token}` };
  if (body !== undefined) headers["Content-Type"] = raw ? "application/octet-stream" : "application/json";
  let answer;
  try {
    answer = await request(path, { method, headers, signal, body: body === undefined ? undefined : raw ? body : JSON.stringify(body) });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Refused("The server does not answer. Is it still running?");
  }
  if (answer.headers.get("Content-Type")?.startsWith("application/json")) {
    const content = await answer.json();
    if (!answer.ok) throw new Refused(content.error ?? `The server refused (${answer.status}).`);
    return content;
  }
  if (!answer.ok) throw new Refused(`The server refused (${answer.status}).`);
  return answer.blob();
}

const WAITS = [0.3, 0.6, 1, 2, 4, 8]; // seconds before each further attempt to connect
const FINAL = [4401, 4404]; // closed for good: a wrong token, no such game

/**
 * The socket of one game. It reconnects by itself and tells the last version that it has seen, so that nothing is missed.
 */
export class GameSocket {
  /**
   * @param {string} game
   * @param {(state: import("./protocol.js").State & {online: boolean, error?: string}) => void} changed
   */
  constructor(game, changed) {
    this.path = `/games/${game}/socket`;
    this.changed = changed;
    /** @type {any} */
    this.state = null;
    /** @type {Map<number, {resolve: (answer: any) => void, reject: (error: Error) => void}>} */
    this.waiting = new Map();
    this.number = 0;
    this.attempt = 0;
    this.closed = false;
    this.connect();
  }

  connect() {
    const socket = connect(this.path);
    this.socket = socket;
    socket.onopen = () => this.hello();
    socket.onmessage = (event) => this.receive(JSON.parse(event.data));
    socket.onclose = (event) => {
      if (this.closed || socket !== this.socket) return;
      for (const { reject } of this.waiting.values()) reject(new Refused("The connection broke. Look whether the move was made, and try again."));
      this.waiting.clear();
      if (FINAL.includes(event.code)) {
        this.tell({ online: false, error: event.reason || "The server closed the connection." });
        return;
      }
      this.tell({ online: false, error: event.reason || undefined });
      this.timer = setTimeout(() => this.connect(), 1000 * WAITS[Math.min(this.attempt++, WAITS.length - 1)]);
    };
  }

  hello() {
    const { token = "" } = place();
    const { version = null, digest = null } = this.state?.frame ?? {};
    this.socket?.send(JSON.stringify({ type: "hello", token, version, digest }));
  }

  /** @param {any} message */
  receive(message) {
    this.attempt = 0;
    if (message.type === "state") {
      this.tell({ frame: message.frame, log: message.log, fresh: [], online: true });
    } else if (message.type === "events") {
      if (!this.state?.frame || message.from !== this.state.frame.version) {
        this.state = null;
        this.hello();
        return;
      }
      const log = [...this.state.log, ...message.steps].slice(-400);
      this.tell({ frame: merged(this.state.frame, message.frame), log, fresh: message.steps, online: true });
    } else if (message.type === "talk") {
      this.tell({ talk: message });
    } else if (this.waiting.has(message.id)) {
      const { resolve, reject } = /** @type {any} */ (this.waiting.get(message.id));
      this.waiting.delete(message.id);
      if (message.type === "refused") reject(new Refused(message.error));
      else resolve(message);
    } else if (message.type === "refused") {
      this.tell({ error: message.error });
    }
  }

  /** @param {any} change */
  tell(change) {
    this.state = { ...this.state, error: undefined, ...change };
    if (!this.closed) this.changed(this.state);
  }

  /** Send a message; the promise holds the answer, or the server's refusal. @param {any} message @returns {Promise<any>} */
  send(message) {
    if (this.socket?.readyState !== WebSocket.OPEN) return Promise.reject(new Refused("There is no connection at the moment."));
    const id = ++this.number;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.socket?.send(JSON.stringify({ ...message, id }));
    });
  }

  /** A message about the position that is shown. @param {any} message */
  act(message) {
    const { version, digest } = this.state.frame;
    return this.send({ ...message, version, digest });
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    this.socket?.close();
  }
}

/** The socket of analyses: one job at a time, whose answers are refined until another job begins. */
export class AnalysisSocket {
  /** @param {(answer: any) => void} heard */
  constructor(heard) {
    this.heard = heard;
    this.number = 0;
    this.ready = false;
    this.closed = false;
    this.attempt = 0;
    /** @type {any} */
    this.job = null;
    this.connect();
  }

  connect() {
    const socket = connect("/analyse");
    this.socket = socket;
    socket.onopen = () => {
      const { token = "", game = null } = place();
      socket.send(JSON.stringify({ type: "hello", token, game }));
    };
    socket.onmessage = (event) => this.receive(JSON.parse(event.data));
    socket.onclose = () => {
      this.ready = false;
      if (!this.closed) this.timer = setTimeout(() => this.connect(), 1000 * WAITS[Math.min(this.attempt++, WAITS.length - 1)]);
    };
  }

  /** @param {any} message */
  receive(message) {
    if (message.type === "ready") {
      this.ready = true;
      this.attempt = 0;
      if (this.job) this.socket?.send(JSON.stringify(this.job));
    } else if (message.id === this.job?.id) {
      this.heard(message);
      if (message.done) this.job = null; // done: not to be asked again after a lost connection
    }
  }

  /** Begin a job in place of the last. @param {any} job */
  start(job) {
    this.job = { ...job, id: ++this.number };
    if (this.ready) this.socket?.send(JSON.stringify(this.job));
  }

  stop() {
    if (this.job && this.ready) this.socket?.send(JSON.stringify({ type: "stop" }));
    this.job = null;
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    this.socket?.close();
  }
}
