/** The page: shows the part that the fragment of the address names. */
import { html, render, useEffect, useState } from "./ui.js";
import { Editor } from "./editor.js";
import { Game } from "./game.js";
import { positionOf, replayOf } from "./links.js";
import { Puzzle, Puzzles } from "./puzzles.js";
import { Replay } from "./replay.js";
import { address, ask, go, place } from "./server.js";
import { Start } from "./start.js";

/** Facts of the server, asked again while it is still compiling. @param {string|undefined} token */
function useAbout(token) {
  const [about, setAbout] = useState(/** @type {any} */ (null));
  const [error, setError] = useState("");
  useEffect(() => {
    let timer = 0;
    const load = async () => {
      try {
        const answer = await ask("GET", "/about");
        setAbout(answer);
        setError("");
        if (!answer.ready) timer = window.setTimeout(load, 1000);
      } catch (refused) {
        setError(/** @type {Error} */ (refused).message);
        timer = window.setTimeout(load, 3000);
      }
    };
    load();
    return () => clearTimeout(timer);
  }, [token]);
  return { about, error };
}

function App() {
  const [where, setWhere] = useState(place());
  useEffect(() => {
    const moved = () => setWhere(place());
    addEventListener("hashchange", moved);
    return () => removeEventListener("hashchange", moved);
  }, []);
  const { about, error } = useAbout(where.token);
  if (!about) return html`<main class="page"><p class="wait" role=${error ? "alert" : "status"}>${error || "Setting the table …"}</p></main>`;
  return html`
    <nav class="top" aria-label="Pages"><a class="mark" href=${address({})}><img src="icon.svg" alt="" width="22" height="22" /> The table</a>
      <a href=${address({ puzzles: 1 })}>Puzzles</a><a href=${address({ editor: 1 })}>Editor</a></nav>
    ${!about.ready && html`<p class="notice top-notice" role="status">The rules engine is being compiled: the first game begins in a minute or two.</p>`}
    <${Page} ...${{ where, about }} />`;
}

/** @param {{where: Record<string, string>, about: any}} props */
function Page({ where, about }) {
  useEffect(() => {
    if (!where.game) document.title = "The table";
  }, [where.game]);
  if (where.position) return html`<${FromLink} key=${where.position} open=${positionOf} text=${where.position} show=${(/** @type {any} */ given) => html`<${Editor} about=${about} given=${given} />`} />`;
  if (where.replay) return html`<${FromLink} key=${where.replay} open=${kept} text=${where.replay} show=${() => null} />`;
  if (where.editor) return html`<${Editor} key=${`${where.game} ${where.frame}`} about=${about} game=${where.game} frame=${Number(where.frame)} />`;
  if (where.puzzles) return html`<${Puzzles} about=${about} />`;
  if (where.puzzle) return html`<${Puzzle} about=${about} number=${Number(where.puzzle)} />`;
  if (where.game && where.frame !== undefined) return html`<${Replay} key=${`replay ${where.game}`} game=${where.game} start=${Number(where.frame)} about=${about} />`;
  if (where.game) return html`<${Game} key=${`${where.game} ${where.token}`} game=${where.game} about=${about} />`;
  return html`<${Start} about=${about} />`;
}

/** Keep the game of a link, and show it. @param {string} text */
async function kept(text) {
  const { games: [{ game }] } = await ask("POST", "/replays", replayOf(text));
  go({ game, frame: 0 });
}

/** What a link holds, once it is unpacked. @param {{open: (text: string) => Promise<any>, text: string, show: (found: any) => any}} props */
function FromLink({ open, text, show }) {
  const [found, setFound] = useState(/** @type {any} */ (null));
  const [error, setError] = useState("");
  useEffect(() => void open(text).then(setFound, (/** @type {Error} */ refused) => setError(refused.message)), []);
  return found ? show(found) : html`<main class="page"><p class="wait" role=${error ? "alert" : "status"}>${error || "Opening the link …"}</p></main>`;
}

const app = /** @type {HTMLElement} */ (document.getElementById("app"));
app.replaceChildren();
render(html`<${App} />`, app);
