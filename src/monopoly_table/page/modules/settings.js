/** The table itself: speed, links, seats, rules, the file. */
import { html, useEffect, useRef, useState } from "./ui.js";
import { Code } from "./code.js";
import { speeds } from "./levels.js";
import { replayLink } from "./links.js";
import { Pictures, download } from "./save.js";
import { address, ask, go } from "./server.js";
import { Signals } from "./signals.js";
import { Who } from "./token.js";

/** @param {any} props */
export function Settings({ game, view, about, send }) {
  const [links, setLinks] = useState(/** @type {import("./protocol.js").Links} */ (null));
  const [error, setError] = useState("");
  const [shared, setShared] = useState("");
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
  const share = () => ask("GET", `/games/${game}/replay`).then(replayLink).then(setShared, (/** @type {Error} */ refused) => setError(refused.message));
  const remove = async () => {
    if (!confirm("Remove this game for good?")) return;
    await ask("DELETE", `/games/${game}`).then(() => go({}), (refused) => setError(refused.message));
  };
  const changed = Object.entries(view.rules.changed);
  return html`<div class="settings">
    ${about.host && html`<p><label>The others play <select data-speed value=${view.speed} onChange=${(/** @type {any} */ event) => send({ type: "speed", speed: Number(event.target.value) })}>
      ${speeds(view.speed).map(([name, seconds]) => html`<option value=${seconds}>${name}</option>`)}</select></label></p>`}
    <${Signals} />
    ${view.you.map((/** @type {number} */ seat) => html`<${Name} key=${seat} player=${view.players[seat]} send=${send} />`)}
    ${links && html`<h3>Links</h3><${Link} title="To watch" href=${address({ game, token: links.watch })} about=${about} />
      ${links.seats.map((seat) => html`<${Link} title=${html`Seat <${Who} player=${view.players[seat.seat]} />`} name=${`seat ${view.players[seat.seat].letter}`} href=${address({ game, token: seat.token })} about=${about} />`)}`}
    ${about.host && html`<h3>Seats</h3><ul class="seats">${view.players.map((/** @type {any} */ player) => html`<${Seat} key=${player.seat} ...${{ player, about, send }} />`)}</ul>`}
    <h3>Rules</h3>
    <p>${changed.length ? changed.map(([name, value]) => html`<span class="rule">${name.replaceAll("_", " ")}: ${String(value)}</span>`) : "The official rules."}</p>
    <p class="buttons"><button type="button" disabled=${!view.over} title=${view.over ? "" : "The file tells the dice to come: wait for the end"} onClick=${save}>Save the replay</button>
      ${view.over && html`<button type="button" data-share onClick=${share}>Link to the game</button>`}
      <${Pictures} ...${{ view, about }} />
      ${about.host && html`<button type="button" class="quiet" onClick=${remove}>Remove the game</button>`}</p>
    ${shared && html`<${Link} title="The whole game" name="the whole game" whole=${shared} />`}
    <p class="error" role="status">${error}</p>
  </div>`;
}

/** Whether only this machine can open a link of the page's address. */
const isLocal = () => ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);

const SCANNABLE = 400; // characters

/** A link to hand out, by an address that others reach. @param {any} props */
export function Link({ title, href, about, name = "watch", whole = ((isLocal() && about.origin) || location.origin) + location.pathname + href }) {
  const [told, tell] = useState("");
  const [shown, show] = useState(false);
  const box = useRef(/** @type {any} */ (null));
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(whole);
      tell("Copied");
    } catch { // over plain http there is no clipboard
      box.current.select();
      tell(document.execCommand("copy") ? "Copied" : "Press Ctrl-C");
    }
  };
  return html`<p class="seat-link"><span>${title}</span>
    <input readonly ref=${box} value=${whole} aria-label=${`Link: ${name}`} onFocus=${(/** @type {any} */ event) => event.target.select()} />
    <button type="button" aria-label=${`Copy: ${name}`} onClick=${copy}><span role="status">${told || "Copy"}</span></button>
    ${whole.length < SCANNABLE && html`<button type="button" aria-pressed=${shown} aria-label=${`QR code: ${name}`} onClick=${() => show(!shown)}>QR</button>`}
    ${shown && html`<${Code} text=${whole} label=${`Scan this for ${name}`} />`}</p>`;
}

/** The name of one's own seat. @param {any} props */
export function Name({ player, send }) {
  const [name, setName] = useState(player.name);
  const give = (/** @type {any} */ event) => {
    event.preventDefault();
    send({ type: "name", seat: player.seat, name: name.trim() });
  };
  return html`<form class="typed name" onSubmit=${give}><label for=${`name-${player.seat}`}>Name of ${player.letter}</label>
    <input id=${`name-${player.seat}`} maxlength="40" value=${name} onInput=${(/** @type {any} */ event) => setName(event.target.value)} />
    <button disabled=${name.trim() === player.name}>Change</button></form>`;
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
