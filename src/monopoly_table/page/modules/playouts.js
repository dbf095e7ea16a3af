/** A worker that plays positions out: `local.js` gives it a state and the options of `rollout`. */

const library = import(new URL("../library/monopoly.js", import.meta.url).href).then((module) => module.load());

addEventListener("message", async ({ data: { number, state, options } }) => {
  try {
    const monopoly = await library;
    await monopoly.fetch(options.policies);
    postMessage({ number, shares: monopoly.open(state).rollout(options).shares });
  } catch (error) {
    postMessage({ number, error: /** @type {Error} */ (error).message });
  }
});
