/** Jobs as JSON on stdin, their results as JSON on stdout. */

/** A job that carries out a program with some names; its result is what it returns, or the message of its error. */
export const program = (names) => async ({ code }) => {
  try {
    return await new Function(...Object.keys(names), `return (async () => { ${code} })()`)(...Object.values(names));
  } catch (error) {
    return `${error.name}: ${error.message}`;
  }
};

export async function run(jobs) {
  const chunks = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  const results = [];
  for (const [job, about] of JSON.parse(Buffer.concat(chunks))) results.push(await jobs[job](about));
  console.log(JSON.stringify(results));
}
