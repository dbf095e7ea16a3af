/** Quick messages between people at several machines. */
import { html, useEffect, useState } from "./ui.js";
import { Who } from "./token.js";
import { PHRASES } from "./words.js";

const SHOWN = 6000; // milliseconds

/** The phrases to choose from, if somebody else is there to read them. @param {any} props */
export function Phrases({ view, send }) {
  const [own] = view.you;
  if (own === undefined || !view.players.some((/** @type {any} */ player) => !view.you.includes(player.seat) && player.kind !== "policy")) return null;
  const say = (/** @type {any} */ { target }) => {
    send({ type: "talk", seat: own, phrase: Number(target.value) });
    target.value = "";
  };
  return html`<select aria-label="Say" value="" onChange=${say}><option value="" disabled>Say …</option>
    ${PHRASES.map((phrase, number) => html`<option value=${number}>${phrase}</option>`)}</select>`;
}

/** The latest phrase, for a moment. @param {{talk: {seat: number, phrase: number}|undefined, view: import("./protocol.js").View}} props */
export function Said({ talk, view }) {
  const [over, end] = useState(/** @type {any} */ (undefined));
  useEffect(() => {
    const timer = setTimeout(() => end(talk), SHOWN);
    return () => clearTimeout(timer);
  }, [talk]);
  return html`<p class="said" role="status">${talk && talk !== over && html`<${Who} player=${view.players[talk.seat]} />: “${PHRASES[talk.phrase]}”`}</p>`;
}
