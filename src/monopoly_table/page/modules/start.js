/** The first page: begin a game, open one, drop a recorded one. */
import { html, useEffect, useState } from "./ui.js";
import { Seats, seated } from "./seats.js";
import { address, ask, go } from "./server.js";
import { levels, speeds } from "./levels.js";
import { PRESETS, counted, plain } from "./words.js";

/** @param {{about: import("./protocol.js").About}} props */
export function Start({ about }) {
  return html`<main class="page start">
    <header class="welcome"><h1>The table</h1>
      <p>Play Monopoly against people and bots; watch, replay and analyse it.</p></header>
    ${about.host
      ? html`<${PlayNow} about=${about} /><div class="columns"><${NewGame} about=${about} /><div><${Games} about=${about} /><${More} /></div></div>`
      : html`<p>Ask the host of this table for a link to a seat, or to watch a game.</p><${More} />`}
  </main>`;
}

/** A game against bots in one click. @param {{about: import("./protocol.js").About}} props */
function PlayNow({ about }) {
  const [others, setOthers] = useState(3);
  const [error, setError] = useState("");
  const begin = async (/** @type {string} */ policy) => {
    const seats = [{ kind: "person", name: "You" }, ...Array.from({ length: others }, () => ({ kind: "policy", policy }))];
    try {
      const { game } = await ask("POST", "/games", { rules: { preset: "official", options: {} }, seats, seed: null, speed: 0.6, paused: false, turn_limit: 0 });
      go({ game });
    } catch (refused) {
      setError(/** @type {Error} */ (refused).message);
    }
  };
  return html`<section class="card now-card" aria-labelledby="now-title">
    <header class="row"><h2 id="now-title">Play now</h2>
      <fieldset class="choice"><legend class="unseen">Opponents</legend>against ${[1, 2, 3, 5].map((count) => html`<button type="button" aria-pressed=${count === others}
        aria-label=${counted(count, "opponent")} onClick=${() => setOthers(count)}>${count}</button>`)}</fieldset></header>
    <ul class="levels">${levels(about).map(({ level, policy, line }) => html`<li><button type="button" data-level=${policy} onClick=${() => begin(policy)}>
      <strong>${level}</strong> <small>${line}</small></button></li>`)}</ul>
    <p class="error" role="alert">${error}</p>
  </section>`;
}

/** The form of a new game. @param {{about: import("./protocol.js").About}} props */
function NewGame({ about }) {
  const [preset, setPreset] = useState("official");
  const [options, setOptions] = useState(/** @type {Record<string, any>} */ ({}));
  const [seats, setSeats] = useState(seated(2));
  const [seed, setSeed] = useState("");
  const [speed, setSpeed] = useState(0.6);
  const [limit, setLimit] = useState(0);
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);
  const [low, high] = about.limits.players;
  const begin = async (/** @type {any} */ event) => {
    event.preventDefault();
    setBusy(true);
    try {
      const body = { rules: { preset, options }, seats, seed: seed.trim() === "" ? null : Number(seed), speed, paused: false, turn_limit: limit };
      const { game } = await ask("POST", "/games", body);
      go({ game });
    } catch (refused) {
      setError(/** @type {Error} */ (refused).message);
      setBusy(false);
    }
  };
  return html`<form class="card new" onSubmit=${begin} aria-labelledby="new-title">
    <h2 id="new-title">A game of your own</h2>
    <p class="row"><label>Players <select id="players" value=${seats.length} onChange=${(/** @type {any} */ event) => setSeats(seated(Number(event.target.value), seats))}>
      ${Array.from({ length: high - low + 1 }, (_, count) => html`<option value=${low + count}>${low + count}</option>`)}</select></label>
    <label>Rules <select id="preset" value=${preset} onChange=${(/** @type {any} */ event) => { setPreset(event.target.value); setOptions({}); }}>
      ${Object.keys(about.rules.presets).map((name) => html`<option value=${name}>${plain(name)}</option>`)}</select></label></p>
    ${PRESETS[preset] && html`<p class="fine">${PRESETS[preset]}</p>`}
    <${Seats} ...${{ seats, setSeats, about }} />
    <details><summary>Seed, speed, length</summary>
      <p class="row"><label>Seed <input inputmode="numeric" pattern="[0-9]*" placeholder="drawn" value=${seed} onInput=${(/** @type {any} */ event) => setSeed(event.target.value)} /></label>
      <label>The others play <select id="speed" value=${speed} onChange=${(/** @type {any} */ event) => setSpeed(Number(event.target.value))}>
        ${speeds(speed).map(([name, seconds]) => html`<option value=${seconds}>${name}</option>`)}</select></label>
      <label>Turns of each player, then worth decides (0: no limit) <input type="number" id="turn-limit" min="0" value=${limit}
        onInput=${(/** @type {any} */ event) => setLimit(Math.max(0, Math.floor(Number(event.target.value) || 0)))} /></label></p>
    </details>
    <details><summary>All rules${Object.keys(options).length ? html` <span class="tag">${counted(Object.keys(options).length, "change")}</span>` : ""}</summary>
      <${Options} ...${{ about, preset, options, setOptions }} /></details>
    <p class="error" role="alert">${error}</p>
    <p class="buttons"><button class="main large" disabled=${busy} data-begin>${seats.some((seat) => seat.kind !== "policy") ? "Sit down" : "Watch"}</button></p>
  </form>`;
}

/** Every option of the rules; those that differ from the preset are sent. @param {any} props */
function Options({ about, preset, options, setOptions }) {
  const base = about.rules.presets[preset];
  const set = (/** @type {any} */ option, /** @type {any} */ value) => {
    const usual = base[option.name] ?? option.default;
    const rest = Object.fromEntries(Object.entries(options).filter(([name]) => name !== option.name));
    setOptions(value === usual ? rest : { ...rest, [option.name]: value });
  };
  return html`<div class="options">${about.rules.options.map((/** @type {any} */ option) => {
    const value = options[option.name] ?? base[option.name] ?? option.default;
    const id = `option-${option.name}`;
    return html`<div class=${option.name in options ? "option changed" : "option"}>
      <label for=${id}>${plain(option.name)}</label>
      ${option.choices
        ? html`<select id=${id} aria-describedby=${`${id}-doc`} value=${value} onChange=${(/** @type {any} */ event) => set(option, event.target.value)}>${option.choices.map((/** @type {string} */ choice) => html`<option value=${choice}>${plain(choice)}</option>`)}</select>`
        : option.range
          ? html`<input id=${id} aria-describedby=${`${id}-doc`} type="number" min=${option.range[0]} max=${option.range[1]} step=${option.range[1] === 1 && !Number.isInteger(option.default) ? 0.01 : 1} value=${value} onChange=${(/** @type {any} */ event) => set(option, Number(event.target.value))} />`
          : html`<input id=${id} aria-describedby=${`${id}-doc`} type="checkbox" checked=${value} onChange=${(/** @type {any} */ event) => set(option, event.target.checked)} />`}
      <small id=${`${id}-doc`}>${option.doc}</small></div>`;
  })}</div>`;
}

const SHOWN = 12; // games, at first

/** The games of this table. @param {{about: import("./protocol.js").About}} props */
function Games({ about }) {
  const [games, setGames] = useState(/** @type {any[]} */ ([]));
  const [error, setError] = useState("");
  const [over, setOver] = useState(false);
  const [listed, list] = useState(SHOWN);
  const refresh = () => ask("GET", "/games").then((answer) => setGames(answer.games), (refused) => setError(refused.message));
  useEffect(() => void refresh(), []);
  const upload = async (/** @type {File|undefined} */ file) => {
    if (!file) return;
    try {
      if (file.size > about.limits.upload) throw new Error(`The file is too large: ${Math.round(about.limits.upload / 2 ** 20)} MB at most.`);
      const answer = await ask("POST", "/replays", file);
      setError(answer.left_out ? `${counted(answer.left_out, "game")} of the file were left out.` : "");
      if (answer.games.length === 1) go({ game: answer.games[0].game, frame: 0 });
      else await refresh();
    } catch (refused) {
      setError(/** @type {Error} */ (refused).message);
    }
  };
  const drop = (/** @type {any} */ event) => {
    event.preventDefault();
    setOver(false);
    upload(event.dataTransfer.files[0]);
  };
  return html`<section class="card games" aria-labelledby="games-title">
    <h2 id="games-title">Games</h2>
    ${games.length ? html`<ul>${games.slice(0, listed).map((game) => html`<li key=${game.game}>
        <a href=${game.kind === "replay" ? address({ game: game.game, frame: 0 }) : address({ game: game.game })}>${game.title || game.names.join(", ")}</a>
        <small>${game.over ? `over after ${counted(game.turns, "turn")}` : `turn ${game.turns}`}${game.kind === "replay" ? ", recorded" : ""}
          ${game.kind === "live" && html` · <a href=${address({ game: game.game, frame: 0 })}>replay</a>`}</small></li>`)}</ul>
      ${games.length > listed && html`<p><button type="button" class="link" data-all onClick=${() => list(games.length)}>All ${games.length} games</button></p>`}
      <p class="quiet">Bots play as long as somebody has their game open.</p>` : html`<p class="quiet">None yet.</p>`}
    <div class=${over ? "drop over" : "drop"} onDragOver=${(/** @type {any} */ event) => { event.preventDefault(); setOver(true); }} onDragLeave=${() => setOver(false)} onDrop=${drop}>
      <label>Drop a recorded game here (<code>.replay</code>), or choose one: <input type="file" accept=".replay" onChange=${(/** @type {any} */ event) => upload(event.target.files[0])} /></label></div>
    <p class="error" role="alert">${error}</p>
  </section>`;
}

function More() {
  return html`<section class="card" aria-labelledby="more-title"><h2 id="more-title">More</h2>
    <p><a href=${address({ puzzles: 1 })}>Puzzles</a>: find the best move, then see.</p>
    <p><a href=${address({ editor: 1 })}>Position editor</a>: set up a board, analyse it, play on from it.</p>
  </section>`;
}
