/** Jobs for the table without a server, as JSON on stdin; their results as JSON on stdout. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { program, run } from "./jobs.mjs";

const play = process.argv[2];
const from = (path) => import(pathToFileURL(join(play, path)));
const [{ load }, { Engine }, { Store }, { Table, answer }] = await Promise.all(["library/monopoly.js", "local/engine.js", "local/store.js", "local/worker.js"].map(from));
const text = async (path) => JSON.parse(await readFile(join(play, path), "utf8"));
const monopoly = await load((path) => readFile(join(play, "library", path)));
const engine = new Engine(monopoly, await text("about.json"));

/** Playouts without other workers. */
const rollout = async ({ positions, policies, turns }) => positions.map(({ record, n, first, action }) => engine.open(record).rollout({ policies, n, first, action, turns }).shares);

const table = new Table(engine, new Store(), rollout, await text("puzzles.json"));
const ask = async (method, path, body) => {
  const { status, content } = await answer(table, { method, path, body });
  if (status !== 200) throw new Error(content.error);
  return content;
};

/** The messages to a client, until one satisfies. */
function client(live) {
  const heard = [];
  let look = () => {};
  const send = (message) => {
    heard.push(structuredClone(message));
    look();
  };
  live.enter(send);
  return {
    heard, send,
    until: (done) => new Promise((resolve) => {
      look = () => done() && resolve(heard.at(-1));
      look();
    }),
  };
}

const digest = (record) => createHash("sha256").update(record).digest("hex").slice(0, 16);

/** A game that policies play to its end. */
async function played(wish) {
  const { game } = await ask("POST", "/games", { speed: 0, ...wish });
  const live = await table.live(game), { send, until } = client(live);
  await until(() => live.game.over);
  live.leave(send);
  return { game, live };
}

await run({
  /** The digests of games that policies play. */
  async digests({ seeds, ...wish }) {
    const found = [];
    for (const seed of seeds) found.push(digest((await played({ ...wish, seed })).live.record));
    return found;
  },
  program: program({ table, engine, monopoly, ask, client, played, digest }),
});
