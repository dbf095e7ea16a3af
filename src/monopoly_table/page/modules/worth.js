/** The change of everybody's chances by an offer. */
import { html } from "./ui.js";
import { useAnalysis } from "./jobs.js";
import { Who } from "./token.js";
import { percent, points, range } from "./words.js";

/** @param {{job: any, players: import("./protocol.js").Player[]}} props */
export function Worth({ job, players }) {
  const { answer, error } = useAnalysis(job);
  if (error) return html`<p class="error">${error}</p>`;
  if (!answer) return html`<p class="quiet">Playing it out …</p>`;
  return html`<${Changes} seats=${answer.seats} players=${players} caption=${`If it is accepted (${answer.playouts.toLocaleString("en-US")} playouts${answer.done ? "" : ", refining"})`} />`;
}

/** @param {{seats: any[], players: import("./protocol.js").Player[], caption: string}} props */
export function Changes({ seats, players, caption }) {
  return html`<table class="worth">
    <caption>${caption}</caption>
    <thead><tr><th scope="col">Player</th><th scope="col">wins now</th><th scope="col">then</th><th scope="col">change, points</th></tr></thead>
    <tbody>${seats.map((seat) => html`<tr>
      <th scope="row"><${Who} player=${players[seat.seat]} /></th><td>${percent(seat.now)}</td><td>${percent(seat.after)}</td>
      <td class=${seat.low > 0 ? "good" : seat.high < 0 ? "bad" : ""}>${points(seat.difference)}${seat.low !== undefined && html` <small>${range([seat.low, seat.high])}</small>`}</td></tr>`)}
    </tbody>
  </table>`;
}
