/** The seats of a new game, a row for each. */
import { html, useState } from "./ui.js";
import { levels } from "./levels.js";
import { Badge } from "./token.js";

/** The seats that a new game is proposed with: a person against `expert`. @param {number} count @param {any[]} [seats] */
export function seated(count, seats = []) {
  return Array.from({ length: count }, (_, seat) => seats[seat] ?? (seat === 0 ? { kind: "person", name: "You" } : { kind: "policy", policy: "expert" }));
}

/** The seats of a game that was played, for another. @param {import("./protocol.js").Player[]} players */
export const seatsOf = (players) => players.map(({ kind, name, policy }) => (kind === "policy" ? { kind, policy: policy ?? "expert" } : { kind, name }));

/** @param {{seats: any[], setSeats: (seats: any[]) => void, about: import("./protocol.js").About}} props */
export function Seats({ seats, setSeats, about }) {
  const known = levels(about);
  const listed = (/** @type {any} */ seat) => seat.kind !== "policy" || known.some(({ policy }) => policy === seat.policy);
  const [more, setMore] = useState(!seats.every(listed));
  const change = (/** @type {number} */ seat, /** @type {any} */ value) => setSeats(seats.map((each, other) => (other === seat ? value : each)));
  return html`<div><ol class="seating">${seats.map((seat, number) => html`<li key=${number}>
    <${Badge} seat=${number} letter=${about.letters[number]} colour=${about.colours[number]} />
    <select aria-label=${`Who plays ${about.letters[number]}`} value=${seat.kind === "policy" ? `policy ${seat.policy}` : seat.kind} onChange=${(/** @type {any} */ event) => {
      const [kind, ...policy] = event.target.value.split(" ");
      change(number, kind === "policy" ? { kind, policy: policy.join(" ") } : { kind, name: seat.name ?? "" });
    }}>
      <option value="person">a person here</option>
      ${!about.local && html`<option value="guest">a guest, by a link</option>`}
      <optgroup label="bots">${known.map(({ level, policy }) => html`<option value=${`policy ${policy}`}>${level}: ${policy}</option>`)}</optgroup>
      ${more && html`<optgroup label="more bots">${about.policies.filter(({ name }) => !known.some(({ policy }) => policy === name)).map(({ name }) => html`<option value=${`policy ${name}`}>${name}</option>`)}</optgroup>`}
    </select>
    ${seat.kind !== "policy" && html`<input aria-label=${`Name of ${about.letters[number]}`} placeholder="name" maxlength="40" value=${seat.name ?? ""}
      onInput=${(/** @type {any} */ event) => change(number, { ...seat, name: event.target.value })} />`}
  </li>`)}</ol>
  ${!more && html`<p><button type="button" class="link" data-more onClick=${() => setMore(true)}>More bots</button></p>`}</div>`;
}
