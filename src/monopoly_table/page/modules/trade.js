/** The trade desk: pick the goods of both sides, preview the exchange, offer it. */
import { html, useEffect, useState } from "./ui.js";
import { previewOf } from "./facts.js";
import { After } from "./offer.js";
import { Badge, Who } from "./token.js";
import { Worth } from "./worth.js";
import { CARDS, money } from "./words.js";

/** @returns {import("./protocol.js").Goods} */
const nothing = () => ({ lots: [], cards: [], dollars: 0 });

/** Cash goes one way: the difference of both typed sums. @param {{give: any, ask: any}} sides */
function net({ give, ask }) {
  const dollars = give.dollars - ask.dollars;
  return { give: { ...give, dollars: Math.max(0, dollars) }, ask: { ...ask, dollars: Math.max(0, -dollars) } };
}

/**
 * @param {{view: import("./protocol.js").View, about: import("./protocol.js").About, send: (message: any) => Promise<any>,
 *   offer: (to: number, give: any, ask: any) => Promise<any>, close: () => void}} props
 */
export function Desk({ view, about, send, offer, close }) {
  const seat = view.question?.seat ?? view.you[0];
  const counter = view.question?.decision === "reply" && view.offer;
  const [to, setTo] = useState(counter ? view.offer?.from ?? view.may_offer[0] : view.may_offer[0]);
  // A counter-offer begins at the offer, seen from the other side.
  const [give, setGive] = useState(counter ? view.offer?.ask ?? nothing() : nothing());
  const [ask, setAsk] = useState(counter ? view.offer?.give ?? nothing() : nothing());
  const [seen, setSeen] = useState(/** @type {any} */ (null));
  const [error, setError] = useState("");
  const [weighed, weigh] = useState(false);

  const goods = net({ give, ask });
  const empty = !goods.give.lots.length && !goods.give.cards.length && !goods.ask.lots.length && !goods.ask.cards.length;
  const key = JSON.stringify([to, goods, view.version]);
  useEffect(() => {
    setError("");
    if (empty) return setSeen(null);
    let stale = false;
    const timer = setTimeout(async () => {
      try {
        const answer = await send({ type: "preview", to, ...goods });
        if (!stale) setSeen(previewOf(answer, to, view, about));
      } catch (refused) {
        if (!stale) setSeen({ legal: false, error: /** @type {Error} */ (refused).message, sides: [] });
      }
    }, 150);
    return () => {
      stale = true;
      clearTimeout(timer);
    };
  }, [key]);

  const partner = view.players[to];
  if (!partner) return null;
  const submit = async (/** @type {any} */ event) => {
    event.preventDefault();
    try {
      await offer(to, goods.give, goods.ask);
    } catch (refused) {
      setError(/** @type {Error} */ (refused).message);
    }
  };
  const change = (/** @type {number} */ other) => {
    setTo(other);
    setAsk(nothing());
  };
  const after = (/** @type {number} */ owner) => seen?.legal && seen.sides.find((/** @type {any} */ side) => side.seat === owner);
  const why = empty ? "Pick at least one lot or jail card." : seen && !seen.legal ? seen.error : "";
  return html`<section class="desk" aria-label="Trade desk">
    <header><h2 tabindex="-1" id="desk-title">${counter ? "Counter-offer to" : "Offer to"}
      ${view.may_offer.length > 1
        ? html`<select aria-label="Partner" value=${to} onChange=${(/** @type {any} */ event) => change(Number(event.target.value))}>
            ${view.may_offer.map((other) => html`<option value=${other}>${view.players[other].letter} ${view.players[other].name}</option>`)}</select>`
        : html`<${Who} player=${partner} />`}</h2>
      <button type="button" class="close" aria-label="Close the trade desk" onClick=${close}>×</button>
    </header>
    <form onSubmit=${submit}>
      <div class="sides">
        <${Side} title="You give" side="give" player=${view.players[seat]} goods=${give} set=${setGive} after=${after(seat)} ...${{ view, about }} />
        <${Side} title="You get" side="ask" player=${partner} goods=${ask} set=${setAsk} after=${after(to)} ...${{ view, about }} />
      </div>
      <p class="error" role="status">${error || (empty ? "" : why)}</p>
      <p class="buttons">
        <button class="main" disabled=${empty || !seen?.legal} title=${why}>Offer</button>
        <button type="button" disabled=${empty || !seen?.legal} aria-pressed=${weighed} onClick=${() => weigh(!weighed)}>What is it worth?</button>
        <button type="button" onClick=${() => { setGive(nothing()); setAsk(nothing()); }}>Clear</button>
      </p>
      ${weighed && seen?.legal && html`<${Worth} job=${{ type: "offer", target: { game: view.game, version: view.version }, to, ...goods }} players=${view.players} />`}
    </form>
  </section>`;
}

/** The goods of one side. @param {any} props */
function Side({ title, side, player, goods, set, view, about, after }) {
  const flip = (/** @type {"lots"|"cards"} */ field, /** @type {any} */ item) =>
    set({ ...goods, [field]: goods[field].includes(item) ? goods[field].filter((/** @type {any} */ each) => each !== item) : [...goods[field], item] });
  const pay = (/** @type {any} */ event) => set({ ...goods, dollars: Math.max(0, Math.floor(Number(event.target.value) || 0)) });
  const groups = about.groups.filter((/** @type {any} */ group) => group.lots.some((/** @type {number} */ lot) => player.lots.includes(lot)));
  return html`<fieldset class="side" data-side=${side}>
    <legend>${title} <small><${Badge} ...${player} /> ${player.name}, ${money(player.cash)}</small></legend>
    ${groups.map((/** @type {any} */ group) => {
      const isBuilt = group.lots.some((/** @type {number} */ lot) => view.lots[lot].level > 0);
      return group.lots.filter((/** @type {number} */ lot) => player.lots.includes(lot)).map((/** @type {number} */ lot) => html`
        <button type="button" class="lot" data-lot=${lot} aria-pressed=${goods.lots.includes(lot)} disabled=${isBuilt}
          title=${isBuilt ? "There are buildings in this colour: they have to be sold first." : ""} style=${{ "--group": group.colour }}
          onClick=${() => flip("lots", lot)}>${view.lots[lot].name}${view.lots[lot].mortgaged ? html` <small>mortgaged</small>` : ""}</button>`);
    })}
    ${player.jail_cards.map((/** @type {string} */ card) => html`<button type="button" class="lot" aria-pressed=${goods.cards.includes(card)}
      onClick=${() => flip("cards", card)}>${CARDS[card] ?? card}</button>`)}
    ${!groups.length && !player.jail_cards.length && html`<p class="quiet">nothing but cash</p>`}
    <div class="pay"><label>Cash <input type="number" inputmode="numeric" min="0" max=${player.cash} value=${goods.dollars || ""} placeholder="0" onInput=${pay} /></label>
      <input type="range" min="0" max=${Math.max(0, player.cash)} step="10" value=${goods.dollars} aria-label=${`Cash of ${player.name}`} onInput=${pay} /></div>
    ${after && html`<${After} side=${after} />`}
  </fieldset>`;
}
