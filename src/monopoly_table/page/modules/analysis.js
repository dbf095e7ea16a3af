/** Chances of winning and the best action of a position, refined while they are shown. */
import { html, useState } from "./ui.js";
import { actionOf } from "./facts.js";
import { useAnalysis } from "./jobs.js";
import { Who } from "./token.js";
import { capital, percent, points } from "./words.js";

/**
 * @param {{target: any, view: import("./protocol.js").View, about: import("./protocol.js").About, chosen?: number|null,
 *   choose?: (action: number) => void, on: boolean, setOn: (on: boolean) => void}} props
 *   chosen: the action that was taken in a replay.
 */
export function Analysis({ target, view, about, chosen = null, choose, on, setOn }) {
  const [policies, setPolicies] = useState("expert");
  const [deep, setDeep] = useState(false);
  const job = on && !view.over ? { type: "analyse", target, policies, actions: true, most: deep ? 100000 : 20000, turns: null } : null;
  const { answer, error } = useAnalysis(job);
  const known = about.policies.filter((policy) => policy.plays_on);
  return html`<section class="analysis" aria-label="Analysis">
    <p class="buttons">
      <button type="button" class=${on ? "" : "main"} aria-pressed=${on} data-analyse onClick=${() => setOn(!on)}><kbd>h</kbd> ${on ? "Stop analysing" : "Analyse this position"}</button>
      <label>plays on: <select value=${policies} onChange=${(/** @type {any} */ event) => setPolicies(event.target.value)}>
        ${known.map((policy) => html`<option value=${policy.name}>${policy.name}</option>`)}</select></label>
    </p>
    ${view.over && html`<p class="quiet">The game is over: nothing is left to play out.</p>`}
    ${error && html`<p class="error" role="alert">${error}</p>`}
    ${job && !answer && !error && html`<p class="quiet">Playing it out …</p>`}
    ${answer && html`
      <h3>Chances of winning</h3>
      <${Shares} shares=${answer.shares} players=${view.players} />
      <p class="fine">${answer.playouts.toLocaleString("en-US")} playouts in ${answer.seconds.toFixed(1)} s, ${(100 * answer.confidence).toFixed(0)}% intervals;
        ${" "}${describe(answer.policies)} on${view.question ? "" : ", after every throw of the dice"}.${answer.done ? "" : " Refining …"}
        ${answer.done && !deep && html` <button type="button" class="link" onClick=${() => setDeep(true)}>Look deeper</button>`}</p>
      ${answer.candidates?.length > 0 && html`<${Candidates} candidates=${named(answer.candidates, view, about)} ...${{ chosen, choose }} />`}
    `}
  </section>`;
}

/**
 * Candidates in the words of the buttons.
 * @param {import("./protocol.js").Candidate[]} candidates @param {import("./protocol.js").View} view @param {import("./protocol.js").About} about
 */
export const named = (candidates, view, about) => candidates.map((each) => ({ ...each, text: actionOf(each.action, view, about).text }));

/** @param {string[]} policies */
const describe = (policies) => (new Set(policies).size === 1 ? `everybody plays as ${policies[0]}` : `they play as ${policies.join(", ")}`);

/** The win shares of all players as bars with intervals. @param {{shares: any[], players: import("./protocol.js").Player[]}} props */
export function Shares({ shares, players }) {
  return html`<ul class="shares" aria-label="Chances of winning">${shares.map((share) => html`<li key=${share.seat}>
    <${Who} player=${players[share.seat]} />
    <span class="bar" aria-hidden="true"><span class="fill" style=${{ "--seat": players[share.seat].colour, width: percent(share.share) }}></span>
      <span class="range" style=${{ left: percent(share.low), width: percent(share.high - share.low) }}></span></span>
    <span class="share">${percent(share.share)} <small>${percent(share.low)} to ${percent(share.high)}</small></span>
  </li>`)}</ul>`;
}

/**
 * The leading action with its share, then the others with their distance from it: over the same playouts, as an action that was
 * dropped early may have had the luckier ones. It is the best only if all others are clearly behind it.
 * @param {{candidates: (import("./protocol.js").Candidate & {text: string})[], chosen?: number|null, choose?: (action: number) => void}} props
 */
export function Candidates({ candidates, chosen = null, choose }) {
  const [best, ...others] = candidates;
  const rivals = others.filter((each) => each.difference_high >= 0);
  const verdict = (/** @type {any} */ each) => (!rivals.length ? each === best && "best" : (each === best || rivals.includes(each)) && "too close to call");
  const share = (/** @type {number} */ behind) => Math.min(1, Math.max(0, best.share + behind));
  const rows = [{ each: best, at: best.share, low: best.low, high: best.high }, ...others.map((each) => (
    { each, at: share(each.difference), low: share(each.difference_low), high: share(each.difference_high) }))];
  const top = Math.max(...rows.map((row) => row.high), 0.01);
  return html`<table class="candidates">
    <caption>If this is done first: the share of wins, and how far the others are behind, in points</caption>
    <thead><tr><th scope="col">Action</th><th scope="col">Share</th><th scope="col">Behind</th></tr></thead>
    <tbody>${rows.map(({ each, at, low, high }) => html`<tr key=${each.action} class=${each.action === chosen ? "chosen" : ""}>
      <th scope="row">${choose ? html`<button type="button" class="link" onClick=${() => choose(each.action)}>${capital(each.text)}</button>` : capital(each.text)}
        ${verdict(each) && html` <span class=${rivals.length ? "tag" : "tag won"}>${verdict(each)}</span>`}${each.action === chosen && html` <span class="tag">chosen</span>`}</th>
      <td><span class="bar" aria-hidden="true"><span class="fill" style=${{ width: percent(at / top) }}></span>
        <span class="range" style=${{ left: percent(low / top), width: percent((high - low) / top) }}></span></span>
        ${each === best && html`${percent(at)} <small>${percent(low)} to ${percent(high)}</small>`}</td>
      <td>${each === best ? "" : html`${points(each.difference)} <small>${points(each.difference_low)} to ${points(each.difference_high)}</small>`}</td>
    </tr>`)}</tbody>
  </table>`;
}
