/** The table itself: speed, links, seats, rules, the file. */
import { html, useEffect, useState } from "./ui.js";
import { Who } from "./players.js";
import { address, ask, go } from "./server.js";

/** @param {any} props */
export function Settings({ game, view, about, send }) {
  const [links, setLinks] = useState(/** @type {import("./protocol.js").Links} */ (null));
  const [error, setError] = useState("");
  useEffect(() => {
    ask("GET", `/games/${game}`).then((answer) => setLinks(answer.links ?? null), (refused) => setError(refused.message));
  }, [game]);
  const save = async () => {
    try {
      download(await ask("GET", `/games/${game}/replay`), `${game}.replay`);
    } catch (refused) {
      setError(/** @type {Error} */ (refused).message);
    }
  };
  const remove = async () => {
    if (!confirm("Remove this game for good?")) return;
    await ask("DELETE", `/games/${game}`).then(() => go({}), (refused) => setError(refused.message));
  };
  const changed = Object.entries(view.rules.changed);
  return html`<div class="settings">
    ${about.host && html`<p><label>Seconds between the others' moves: <output>${view.speed}</output>
      <input type="range" min=${about.limits.speed[0]} max="3" step="0.1" value=${view.speed} onChange=${(/** @type {any} */ event) => send({ type: "speed", speed: Number(event.target.value) })} /></label></p>`}
    ${links && html`<h3>Links</h3><${Link} title="To watch" href=${address({ game, token: links.watch })} />
      ${links.seats.map((seat) => html`<${Link} title=${html`Seat <${Who} player=${view.players[seat.seat]} />`} name=${`seat ${view.players[seat.seat].letter}`} href=${address({ game, token: seat.token })} />`)}`}
    ${about.host && html`<h3>Seats</h3><ul class="seats">${view.players.map((/** @type {any} */ player) => html`<${Seat} key=${player.seat} ...${{ player, about, send }} />`)}</ul>`}
    <h3>Rules</h3>
    <p>${changed.length ? changed.map(([name, value]) => html`<span class="rule">${name.replaceAll("_", " ")}: ${String(value)}</span>`) : "The official rules."}</p>
    <p class="buttons"><button type="button" disabled=${!view.over} title=${view.over ? "" : "The file tells the dice to come: wait for the end"} onClick=${save}>Save the replay</button>
      ${about.host && html`<button type="button" class="quiet" onClick=${remove}>Remove the game</button>`}</p>
    <p class="error" role="status">${error}</p>
  </div>`;
}

/** Offer a file to keep. @param {Blob} blob @param {string} name */
function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** @param {any} props */
function Link({ title, href, name = "watch" }) {
  const [copied, setCopied] = useState(false);
  const whole = location.origin + location.pathname + href;
  const copy = () => navigator.clipboard?.writeText(whole).then(() => setCopied(true), () => {});
  return html`<p class="seat-link"><span>${title}</span>
    <input readonly value=${whole} aria-label=${`Link: ${name}`} onFocus=${(/** @type {any} */ event) => event.target.select()} />
    <button type="button" onClick=${copy}>${copied ? "Copied" : "Copy"}</button></p>`;
}

/** @param {any} props */
function Seat({ player, about, send }) {
  const now = player.kind === "policy" ? player.policy : player.kind;
  const give = (/** @type {any} */ event) => {
    const kind = event.target.value;
    send({ type: "seat", seat: player.seat, ...(kind === "person" ? { kind } : { kind: "policy", policy: kind }) });
  };
  return html`<li><${Who} player=${player} /> <select aria-label=${`Who plays ${player.letter}`} value=${now} onChange=${give} disabled=${player.out}>
    <option value="person">a person here</option>
    ${player.kind === "guest" && html`<option value="guest">a guest</option>`}
    ${about.policies.map((/** @type {any} */ policy) => html`<option value=${policy.name}>${policy.name}</option>`)}
  </select></li>`;
}
