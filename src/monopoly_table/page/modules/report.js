/** A whole game judged: the curve, accuracy, the worst mistakes, luck and skill. */
import { html, useState } from "./ui.js";
import { useAnalysis } from "./jobs.js";
import { Curve } from "./curve.js";
import { Who } from "./players.js";
import { capital, points } from "./words.js";

/**
 * @param {{game: string, players: import("./protocol.js").Player[], last: number, frame: number, goTo: (frame: number) => void}} props
 */
export function Report({ game, players, last, frame, goTo }) {
  const [asked, askFor] = useState("");
  const [curve, keepCurve] = useState(/** @type {any} */ (null));
  const [report, keepReport] = useState(/** @type {any} */ (null));
  const jobs = /** @type {Record<string, any>} */ ({ curve: { type: "curve", game, points: 80, playouts: 200, policies: "expert" }, report: { type: "report", game, playouts: 60, policies: "expert" } });
  const { answer, error } = useAnalysis(jobs[asked] ?? null);
  if (answer?.type === "curve" && answer !== curve) keepCurve(answer);
  if (answer?.type === "report" && answer.progress !== report?.progress) keepReport({ ...(asked === "report" ? report : {}), ...answer });
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
    ${report?.players && html`<${Verdict} ...${{ report, players, goTo }} />`}
  </section>`;
}

/** @param {any} props */
function Verdict({ report, players, goTo }) {
  return html`
    <table class="verdict">
      <caption>Players; luck and skill in points of the win</caption>
      <thead><tr><th scope="col">Player</th><th scope="col">Accuracy</th><th scope="col">Luck</th><th scope="col">Skill</th><th scope="col">Others</th></tr></thead>
      <tbody>${report.players.map((/** @type {any} */ each) => html`<tr><th scope="row"><${Who} player=${players[each.seat]} /></th>
        <td>${each.accuracy === null ? "–" : each.accuracy.toFixed(1)}</td><td>${points(each.luck)}</td><td>${points(each.skill)}</td><td>${points(each.others)}</td></tr>`)}</tbody>
    </table>
    ${!report.done && html`<p class="fine" data-first>A first version, from ${report.playouts} playouts of each decision. It gets better as long as you look.</p>`}
    <p class="fine">${report.formula}. Luck: what dice and cards gave. Skill: what the player's own choices gave. Others: what the choices of the others gave.</p>
    ${report.mistakes.length > 0 && html`<h3>The most costly choices</h3>
      <ol class="mistakes">${report.mistakes.map((/** @type {any} */ each) => html`<li>
        <button type="button" class="link" onClick=${() => goTo(each.version)}>Turn ${each.turn}</button>: <${Who} player=${players[each.seat]} />
        chose <em>${each.text}</em>${each.best && html`, better: <em>${each.best.text}</em>`}, ${" "}<strong>${points(-Math.abs(each.cost))}</strong> points</li>`)}</ol>`}
  `;
}
