/** Jobs for the library for browsers, as JSON on stdin; their results as JSON on stdout. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { program, run } from "./jobs.mjs";

const folder = process.argv[2];
const { estimate, load } = await import(pathToFileURL(join(folder, "monopoly.js")));
const monopoly = await load((path) => readFile(join(folder, path)));

await run({
  /** The digests after each action of a recorded game. */
  async replay({ options, actions }) {
    const game = monopoly.newGame(options), digests = [];
    for (const action of actions) {
      game.apply(action);
      digests.push((await game.digest()).slice(0, 8));
    }
    return digests;
  },
  /** The digests of games that policies play to the end, or for so many decisions. */
  async play({ options, seeds, most }) {
    await monopoly.fetch(...options.seats);
    return Promise.all(seeds.map((seed) => {
      const game = monopoly.newGame({ ...options, seed });
      game.play(most);
      return game.digest();
    }));
  },
  /** Playouts of a position, their estimate, values and worths. */
  async position({ options, actions, rollout, split }) {
    await monopoly.fetch("value/best");
    const game = monopoly.newGame(options);
    actions.forEach((action) => game.apply(action));
    const parts = split.map(([first, n]) => game.rollout({ ...rollout, first, n }));
    const { shares, doubledPlaces, turns, cut } = parts[0];
    return {
      shares: [...shares], doubledPlaces: [...doubledPlaces], turns: [...turns], cut: [...cut],
      estimate: estimate(parts), worth: game.worth(), value: game.evaluate("best"),
      legal: game.legal(), record: game.observe(),
    };
  },
  program: program({ monopoly }),
});
