/** A whole game judged: the curve, accuracy, the worst mistakes, luck and skill. */
import { html, useState } from "./ui.js";
import { useAnalysis } from "./jobs.js";
import { Curve } from "./curve.js";
import { actionOf, viewOf } from "./facts.js";
import { seatsOf } from "./seats.js";
import { ask, go } from "./server.js";
import { Who } from "./token.js";
import { offerMove, points, range } from "./words.js";

/** The parts of a player's way from the first share to the last. @type {Record<string, string>} */
const NUMBERS = { luck: "Luck", skill: "Skill", others: "Others" };

/**
 * @param {{game: string, about: import("./protocol.js").About, players: import("./protocol.js").Player[], last: number, frame: number,
 *   goTo: (frame: number) => void, begin?: boolean}} props
 *   begin: whether to judge the game at once.
 */
export function Report({ game, about, players, last, frame, goTo, begin = false }) {
  const [asked, askFor] = useState(begin ? "report" : "");
  const [kept, keep] = useState(/** @type {Record<string, any>} */ ({})); // the latest answer of each job
  const jobs = /** @type {Record<string, any>} */ ({ curve: { type: "curve", game, points: 80, playouts: 200, policies: "expert" }, report: { type: "report", game, playouts: 60, policies: "expert" } });
  const { answer, error } = useAnalysis(jobs[asked] ?? null);
  if (answer && answer !== kept[answer.type]) keep({ ...kept, [answer.type]: answer });
  const { curve, report } = kept;
  const line = report?.curve ?? curve?.points ?? [];
  const running = asked && !answer?.done && !error;
  return html`<section class="report" aria-label="The whole game">
    <p class="buttons">
      <button type="button" data-curve aria-pressed=${asked === "curve"} onClick=${() => askFor(asked === "curve" ? "" : "curve")}>Chances over the game</button>
      <button type="button" data-report aria-pressed=${asked === "report"} onClick=${() => askFor(asked === "report" ? "" : "report")}>Accuracy, mistakes, luck</button>
    </p>
    ${error && html`<p class="error" role="alert">${error}</p>`}
    ${running && html`<p class="quiet"><label>Playing the game out again and again …
      <progress max="1" value=${asked === "report" ? report?.progress ?? 0 : undefined}></progress></label></p>`}
    ${line.length > 1 && html`<${Curve} points=${line} ...${{ players, last, frame, goTo }} />`}
    ${report?.players && html`<${Verdict} ...${{ game, about, report, players, goTo }} />`}
  </section>`;
}

/** The choice of a mistake and the better one, in words. @param {any} mistake @param {any} about */
function choices({ frame, action, offer, best }, about) {
  const view = viewOf(frame, about), text = (/** @type {number} */ each) => actionOf(each, view, about).text;
  return html`chose <em>${offer ? offerMove(offer, view) : text(action)}</em>${best && html`, better: <em>${text(best.action)}</em>`}`;
}

/** @param {any} props */
function Verdict({ game, about, report, players, goTo }) {
  const again = (/** @type {number} */ version) => ask("POST", "/games", { from: { game, version }, seats: seatsOf(players), seed: null, speed: 0.6, paused: false }).then((begun) => go({ game: begun.game }));
  const number = (/** @type {any} */ each, /** @type {string} */ name) => html`<div><dt>${NUMBERS[name]}</dt>
    <dd>${points(each[name])} <small>${range(each.intervals[name])}</small></dd></div>`;
  return html`
    <h3>How they played</h3>
    <ul class="verdict" data-playouts=${report.playouts} data-done=${report.done}>${report.players.map((/** @type {any} */ each) => html`<li key=${each.seat}>
      <p><${Who} player=${players[each.seat]} />${each.accuracy !== null && html` <span>accuracy <strong>${each.accuracy.toFixed(1)}</strong>
        ${" "}<small>${each.intervals.accuracy.map((/** @type {number} */ bound) => bound.toFixed(1)).join(" to ")}</small></span>`}</p>
      <dl>${Object.keys(NUMBERS).map((name) => number(each, name))}</dl></li>`)}</ul>
    <p class="fine">In points of the win, with 95% intervals. Luck: dice and cards. Skill: the player's own choices. Others: the choices of the others.
      ${" "}From ${report.playouts} playouts of each choice${report.done ? "" : ", a first version that gets better as long as you look"}. Accuracy: ${report.formula}.</p>
    ${report.mistakes.length > 0 && html`<h3>Turning points</h3>
      <ol class="mistakes">${report.mistakes.map((/** @type {any} */ each) => html`<li key=${each.version}>
        <button type="button" class="link" onClick=${() => goTo(each.version)}>Turn ${each.turn}</button>${": "}<${Who} player=${players[each.seat]} />${" "}
        ${choices(each, about)}, ${" "}<strong>${points(-Math.abs(each.cost))}</strong> points
        ${about.host && html` <button type="button" class="link" onClick=${() => again(each.version)}>Play on from here</button>`}</li>`)}</ol>`}
  `;
}
