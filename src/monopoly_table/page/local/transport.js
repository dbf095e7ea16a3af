/**
 * The way to whoever keeps the games, in a page without a server: a worker, which answers as docs/protocol.md says. The page of
 * a static host has this file in the place of `modules/transport.js`.
 */

const TOO_OLD = "This browser can't run the rules: it needs WebAssembly and workers of modules, as all browsers since 2023 have them.";

/** @type {Map<number, (answer: {status: number, content: any}) => void>} */
const waiting = new Map();
let number = 0;
let failure = "";

/** @returns {Worker|null} */
function start() {
  try {
    if (![globalThis.WebAssembly, globalThis.CompressionStream, [].toSorted].every(Boolean)) throw new Error(TOO_OLD);
    const worker = new Worker(new URL("../local/worker.js", import.meta.url), { type: "module" });
    worker.onerror = (event) => fail(event.message ? `The rules failed: ${event.message}` : TOO_OLD);
    worker.onmessage = ({ data }) => {
      waiting.get(data.id)?.(data);
      waiting.delete(data.id);
    };
    return worker;
  } catch {
    fail(TOO_OLD);
    return null;
  }
}

/** @param {string} reason */
function fail(reason) {
  failure = reason;
  for (const answer of waiting.values()) answer({ status: 503, content: { error: reason } });
  waiting.clear();
}

const worker = start();

/** @param {string} path @param {RequestInit} options @returns {Promise<Response>} */
export async function request(path, { method = "GET", body }) {
  const id = ++number;
  const { status, content } = failure ? { status: 503, content: { error: failure } } : await new Promise((resolve) => {
    waiting.set(id, resolve);
    worker?.postMessage({ id, method, path, body: typeof body === "string" ? JSON.parse(body) : body });
  });
  if (content instanceof Blob) return new Response(content, { status });
  return new Response(JSON.stringify(content), { status, headers: { "Content-Type": "application/json" } });
}

/** A line to the worker that behaves as a socket. @param {string} path @returns {any} */
export function connect(path) {
  const { port1, port2 } = new MessageChannel();
  const socket = {
    readyState: /** @type {number} */ (WebSocket.CONNECTING),
    onopen() {},
    /** @param {{data: string}} _ */
    onmessage(_) {},
    /** @param {{code: number, reason: string}} _ */
    onclose(_) {},
    /** @param {string} text */
    send: (text) => port1.postMessage(text),
    close() {
      socket.readyState = WebSocket.CLOSED;
      port1.postMessage(null);
    },
  };
  port1.onmessage = ({ data }) => {
    if (typeof data === "string") return socket.onmessage({ data });
    if (socket.readyState === WebSocket.CLOSED) return undefined;
    socket.readyState = WebSocket.CLOSED;
    return socket.onclose(data);
  };
  worker?.postMessage({ path }, [port2]);
  queueMicrotask(() => {
    socket.readyState = WebSocket.OPEN;
    socket.onopen();
  });
  return socket;
}
