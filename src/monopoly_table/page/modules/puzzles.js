/** Puzzles: guess the best move, then see. */
import { html, useEffect, useMemo, useState } from "./ui.js";
import { Candidates, named } from "./analysis.js";
import { viewOf } from "./facts.js";
import { useKeys } from "./keyboard.js";
import { Players } from "./players.js";
import { address, ask } from "./server.js";
import { Stage } from "./stage.js";
import { keep, solved, streak } from "./solved.js";
import { Who } from "./token.js";
import { PUZZLES, capital, counted, difficulty, lose, points } from "./words.js";

/** @param {{about: import("./protocol.js").About}} props */
export function Puzzles({ about }) {
  const [puzzles, setPuzzles] = useState(/** @type {any[]|null} */ (null));
  const [error, setError] = useState("");
  useEffect(() => void ask("GET", "/puzzles").then((answer) => setPuzzles(answer.puzzles), (refused) => setError(refused.message)), []);
  const answers = new Map(solved());
  const right = [...answers.values()].filter(Boolean).length;
  return html`<main class="page"><h1>Puzzles</h1>
    <p>In each of these positions one move is better than all others by more than chance explains. Guess, then see.</p>
    ${answers.size > 0 && html`<p class="streak"><strong>${streak()}</strong> in a row · ${right} of ${counted(answers.size, "puzzle")} right</p>`}
    <p class="error" role="alert">${error}</p>
    ${puzzles && !puzzles.length && html`<p class="quiet">This table has no puzzles.</p>`}
    <ol class="puzzles">${(puzzles ?? []).map((each) => html`<li><a href=${address({ puzzle: each.puzzle })}>
      <strong>${each.puzzle + 1}</strong> ${PUZZLES[each.decision] ?? each.title}
      ${answers.has(each.puzzle) && html` <span class=${answers.get(each.puzzle) ? "good" : "bad"}>${answers.get(each.puzzle) ? "✓" : "✗"}<span class="unseen">${answers.get(each.puzzle) ? "right" : "wrong"}</span></span>`}
      <small>${difficulty(each.gap)} · ${each.players} players</small></a></li>`)}</ol>
  </main>`;
}

/** @param {{about: import("./protocol.js").About, number: number}} props */
export function Puzzle({ about, number }) {
  const [shown, setShown] = useState(/** @type {any} */ (null));
  const [result, setResult] = useState(/** @type {any} */ (null));
  const [guessed, setGuessed] = useState(-1);
  const [square, setSquare] = useState(/** @type {number|null} */ (null));
  const [error, setError] = useState("");
  useEffect(() => {
    setResult(null);
    setGuessed(-1);
    setSquare(null);
    ask("GET", `/puzzles/${number}`).then(setShown, (refused) => setError(refused.message));
  }, [number]);
  const guess = async (/** @type {any} */ action) => {
    if (result) return;
    setGuessed(action.action);
    const answer = await ask("POST", `/puzzles/${number}/guess`, { action: action.action }).catch((refused) => void setError(refused.message));
    if (answer) keep(number, answer.right);
    setResult(answer);
  };
  const view = useMemo(() => shown && viewOf(shown.frame, about), [shown, about]);
  const actions = /** @type {any[]} */ (view?.actions.filter((/** @type {any} */ action) => shown.candidates.includes(action.action)) ?? []);
  useKeys({
    ...Object.fromEntries(actions.slice(0, 9).map((action, at) => [String(at + 1), () => guess(action)])),
    Escape: () => setSquare(null),
  });
  if (!shown) return html`<main class="page"><p class="wait" role=${error ? "alert" : "status"}>${error || "Setting up …"}</p></main>`;
  const texts = Object.fromEntries(actions.map((action) => [action.action, action.text]));
  const losses = (result?.candidates ?? []).filter((/** @type {any} */ each) => each.action !== result.best).map((/** @type {any} */ each) => -each.difference);
  const cost = result?.candidates.find((/** @type {any} */ each) => each.action === guessed)?.difference;
  return html`<main class="table puzzle">
    <h1 class="unseen">${shown.title}</h1>
    <${Players} ...${{ view, about }} show=${setSquare} />
    <${Stage} ...${{ view, about, square, setSquare }}>
      <section class="question mine" aria-label="The puzzle"><h2>${view.question && html`<${Who} player=${view.players[view.question.seat]} />`} to decide</h2>
        <p class="subject">${view.question?.text} Find the best move.</p>
        ${error && html`<p class="error" role="alert">${error}</p>`}
        <p class="buttons answers">${actions.map((action, at) => html`<button type="button" class=${result ? (action.action === result.best ? "main" : "") : "main"} data-guess=${action.action}
          aria-pressed=${action.action === guessed} disabled=${Boolean(result) && action.action !== guessed && action.action !== result.best} onClick=${() => guess(action)}>
          ${at < 9 && html`<kbd>${at + 1}</kbd>`} ${capital(action.text)}</button>`)}</p>
        ${result && html`<p role="status" class=${result.right ? "verdict good" : "verdict bad"}>
          ${result.right ? `Right. ${lose(losses)}` : `That costs ${points(Math.abs(cost ?? 0)).slice(1)} points of the win. Best: ${texts[result.best]}.`}</p>
          ${streak() > 1 && html`<p class="streak"><strong>${streak()}</strong> right in a row</p>`}`}
      </section>
      <p class="buttons tools"><a class="button" href=${address({ puzzle: number + 1 })}>Next puzzle</a><a class="button" href=${address({ puzzles: 1 })}>All puzzles</a></p>
    <//>
    <aside class="side" aria-label="The answer">${result ? html`<${Candidates} candidates=${named(result.candidates, view, about)} chosen=${guessed} />` : html`<p class="quiet">The shares of all moves appear here after the guess.</p>`}</aside>
  </main>`;
}
