/** After the game: who won, the standings, and what next. */
import { html, useState } from "./ui.js";
import { seatsOf } from "./seats.js";
import { address, ask, go } from "./server.js";
import { Who } from "./token.js";
import { ENDINGS, money } from "./words.js";

/** @param {{view: import("./protocol.js").View, about: import("./protocol.js").About, report: () => void}} props */
export function Ending({ view, about, report }) {
  const [error, setError] = useState("");
  const names = view.winners.map((seat) => view.players[seat].name);
  const won = names.length ? `${names.join(" and ")} won` : "The game is over";
  const rematch = async () => {
    try {
      const { game } = await ask("POST", "/games", { rules: { preset: "official", options: view.rules.changed }, seats: seatsOf(view.players), seed: null, speed: view.speed, paused: false, turn_limit: 0 });
      go({ game });
    } catch (refused) {
      setError(/** @type {Error} */ (refused).message);
    }
  };
  const standing = view.players.toSorted((one, other) => one.place - other.place || other.worth - one.worth);
  return html`<section class="question over" aria-label="The end">
    <h2 tabindex="-1" id="asked">${won}</h2>
    <p class="subject">${ENDINGS[view.ending ?? ""] ?? view.ending}</p>
    <ol class="standings">${standing.map((player) => html`<li key=${player.seat}><span class="place">${player.place || ""}</span> <${Who} player=${player} />
      <span class="cash">${player.out ? "bankrupt" : money(player.worth)}</span></li>`)}</ol>
    <p class="buttons answers">
      ${about.host && html`<button type="button" class="main" data-rematch onClick=${rematch}>Rematch</button>`}
      <button type="button" data-judge onClick=${report}>How it was won</button>
      <a class="button" href=${address({ game: view.game, frame: 0 })}>Watch it again</a></p>
    <p class="error" role="alert">${error}</p>
  </section>`;
}
