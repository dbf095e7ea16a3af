/** The position editor: owners, buildings, cash, jail, tokens; then analyse it or play on from it. */
import { html, useEffect, useMemo, useState } from "./ui.js";
import { Analysis } from "./analysis.js";
import { viewOf } from "./facts.js";
import { positionLink } from "./links.js";
import { Pictures } from "./save.js";
import { Seats, seated } from "./seats.js";
import { ask, go } from "./server.js";
import { Link } from "./settings.js";
import { Stage } from "./stage.js";
import { Tabs } from "./tabs.js";
import { Badge } from "./token.js";
import { CARDS, plain } from "./words.js";

const player = () => ({ cash: 1500, square: 0, jail: null, jail_cards: [], lots: [], bankrupt: false });
const BLANK = { rules: { preset: "official", options: {} }, seed: 0, turn: 0, streak: 0, pot: null, players: [player(), player()], buildings: [], mortgaged: [], throws: [], chance: [], community_chest: [] };

/** @param {{about: import("./protocol.js").About, game?: string, frame?: number, given?: any}} props given: a position to begin with */
export function Editor({ about, game, frame, given = BLANK }) {
  const [position, setPosition] = useState(/** @type {any} */ (given));
  const [shown, setShown] = useState(/** @type {any} */ (null));
  const [error, setError] = useState("");
  const [square, setSquare] = useState(/** @type {number|null} */ (null));
  const [tab, setTab] = useState("analysis");
  const [on, setOn] = useState(false);
  const text = useMemo(() => JSON.stringify(position), [position]);

  useEffect(() => {
    if (game) ask("GET", `/games/${game}/frames/${frame ?? 0}/position`).then(setPosition, (refused) => setError(refused.message));
  }, [game, frame]);
  useEffect(() => {
    const abort = new AbortController();
    const timer = setTimeout(async () => {
      try {
        setShown(await ask("POST", "/positions", position, abort.signal));
        setError("");
      } catch (refused) {
        if (!abort.signal.aborted) setError(/** @type {Error} */ (refused).message);
      }
    }, 250);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [text]);
  if (!shown) return html`<main class="page"><p class="wait" role=${error ? "alert" : "status"}>${error || "Setting up …"}</p></main>`;
  const view = viewOf(shown.frame, about);
  return html`<main class="table editor">
    <h1 class="unseen">Position editor</h1>
    <${Form} ...${{ position, setPosition, about, view }} />
    <${Stage} ...${{ view, about, square, setSquare }}>
      ${error
        ? html`<p class="error" role="alert" id="refusal">${error}</p><p class="quiet">The board shows the last position that can be.</p>`
        : html`<section class="question" aria-label="The open question"><h2><${Badge} ...${view.players[view.question?.seat ?? view.on_turn]} /> ${view.players[view.question?.seat ?? view.on_turn].name}
            ${view.question ? " decides" : " throws next"}</h2><p class="subject">${view.question?.text}</p></section>`}
      ${square !== null && html`<${LotForm} ...${{ position, setPosition, about, view, square }} />`}
      <p class="quiet">Click a property to give it an owner, buildings, a mortgage.</p>
    <//>
    <aside class="side" aria-label="More"><${Tabs} label="More" open=${tab} setOpen=${setTab} tabs=${[
      { id: "analysis", title: "Analysis", body: () => html`<${Analysis} target=${{ position }} ...${{ view, about, setOn }} on=${on && !error} />` },
      { id: "link", title: "Link", body: () => html`<${Shared} position=${position} /><p class="buttons"><${Pictures} ...${{ view, about }} /></p>` },
      { id: "play", title: "Play on", body: () => html`<${PlayOn} ...${{ position, about }} refused=${Boolean(error)} />` },
    ]} /></aside>
  </main>`;
}

/** The position as a link. @param {{position: any}} props */
function Shared({ position }) {
  const [link, setLink] = useState("");
  useEffect(() => void positionLink(position).then(setLink), [position]);
  return link && html`<${Link} title="This position" name="this position" whole=${link} />`;
}

/** The parts of a position that are not on the board: rules, turn, and a row for each player. @param {any} props */
function Form({ position, setPosition, about, view }) {
  const set = (/** @type {any} */ change) => setPosition({ ...position, ...change });
  const setPlayer = (/** @type {number} */ seat, /** @type {any} */ change) =>
    set({ players: position.players.map((/** @type {any} */ each, /** @type {number} */ other) => (other === seat ? { ...each, ...change } : each)) });
  const count = (/** @type {number} */ wanted) => set({ players: Array.from({ length: wanted }, (_, seat) => position.players[seat] ?? player()), turn: Math.min(position.turn, wanted - 1) });
  const squares = about.boards[view.rules.board];
  const [low, high] = about.limits.players;
  return html`<section class="players setup" aria-label="The position">
    <p class="row"><label>Rules <select value=${position.rules.preset} onChange=${(/** @type {any} */ event) => set({ rules: { preset: event.target.value, options: {} } })}>
        ${Object.keys(about.rules.presets).map((name) => html`<option value=${name}>${plain(name)}</option>`)}</select></label>
      <label>Players <select value=${position.players.length} onChange=${(/** @type {any} */ event) => count(Number(event.target.value))}>
        ${Array.from({ length: high - low + 1 }, (_, more) => html`<option value=${low + more}>${low + more}</option>`)}</select></label>
      <label>Throws next <select value=${position.turn} onChange=${(/** @type {any} */ event) => set({ turn: Number(event.target.value) })}>
        ${position.players.map((/** @type {any} */ _, /** @type {number} */ seat) => html`<option value=${seat}>${about.letters[seat]}</option>`)}</select></label></p>
    ${position.players.map((/** @type {any} */ each, /** @type {number} */ seat) => {
      const letter = about.letters[seat];
      const flip = (/** @type {string} */ card) => setPlayer(seat, { jail_cards: each.jail_cards.includes(card) ? each.jail_cards.filter((/** @type {string} */ other) => other !== card) : [...each.jail_cards, card] });
      return html`<fieldset key=${seat}><legend><${Badge} ...${{ seat, letter, colour: about.colours[seat] }} /> Player ${letter}</legend>
        <label>Cash <input type="number" min="0" value=${each.cash} data-cash=${seat} onInput=${(/** @type {any} */ event) => setPlayer(seat, { cash: Math.floor(Number(event.target.value) || 0) })} /></label>
        <label>Stands on <select value=${each.square} onChange=${(/** @type {any} */ event) => setPlayer(seat, { square: Number(event.target.value) })}>
          ${squares.map((/** @type {any} */ face) => html`<option value=${face.square}>${face.name}</option>`)}</select></label>
        <label>Jail <select value=${each.jail ?? ""} onChange=${(/** @type {any} */ event) => setPlayer(seat, event.target.value === "" ? { jail: null } : { jail: Number(event.target.value), square: 10 })}>
          <option value="">free</option><option value="0">in jail</option><option value="1">1 failed throw</option><option value="2">2 failed throws</option></select></label>
        ${Object.entries(CARDS).map(([card, name]) => html`<label><input type="checkbox" checked=${each.jail_cards.includes(card)} onChange=${() => flip(card)} /> ${name}</label>`)}
        <label><input type="checkbox" checked=${each.bankrupt} onChange=${() => setPlayer(seat, { bankrupt: !each.bankrupt })} /> bankrupt</label>
      </fieldset>`;
    })}
  </section>`;
}

/** Owner, buildings and mortgage of the lot on a square. @param {any} props */
function LotForm({ position, setPosition, about, view, square }) {
  const face = about.boards[view.rules.board].find((/** @type {any} */ each) => each.square === square);
  const lot = face?.lot;
  if (lot === null || lot === undefined) return null;
  const owner = position.players.findIndex((/** @type {any} */ each) => each.lots.includes(lot));
  const level = position.buildings.find((/** @type {any} */ each) => each.lot === lot)?.level ?? 0;
  const own = (/** @type {number} */ seat) => setPosition({ ...position, players: position.players.map((/** @type {any} */ each, /** @type {number} */ other) => ({
    ...each, lots: [...each.lots.filter((/** @type {number} */ held) => held !== lot), ...(other === seat ? [lot] : [])] })) });
  const build = (/** @type {number} */ wanted) => setPosition({ ...position, buildings: [...position.buildings.filter((/** @type {any} */ each) => each.lot !== lot), ...(wanted ? [{ lot, level: wanted }] : [])] });
  const mortgage = (/** @type {boolean} */ wanted) => setPosition({ ...position, mortgaged: [...position.mortgaged.filter((/** @type {number} */ each) => each !== lot), ...(wanted ? [lot] : [])] });
  return html`<p class="row lot-form">
    <label>Owner <select value=${owner} data-owner onChange=${(/** @type {any} */ event) => own(Number(event.target.value))}><option value="-1">the bank</option>
      ${position.players.map((/** @type {any} */ _, /** @type {number} */ seat) => html`<option value=${seat}>${about.letters[seat]}</option>`)}</select></label>
    ${face.kind === "street" && html`<label>Buildings <select value=${level} onChange=${(/** @type {any} */ event) => build(Number(event.target.value))}>
      ${["none", "1 house", "2 houses", "3 houses", "4 houses", "hotel"].map((name, number) => html`<option value=${number}>${name}</option>`)}</select></label>`}
    <label><input type="checkbox" checked=${position.mortgaged.includes(lot)} onChange=${(/** @type {any} */ event) => mortgage(event.target.checked)} /> mortgaged</label>
  </p>`;
}

/** @param {any} props */
function PlayOn({ position, about, refused }) {
  const [seats, setSeats] = useState(seated(position.players.length));
  const [error, setError] = useState("");
  const table = seated(position.players.length, seats);
  const begin = async (/** @type {any} */ event) => {
    event.preventDefault();
    try {
      const { game } = await ask("POST", "/games", { position, seats: table, seed: null, speed: 0.6, paused: false });
      go({ game });
    } catch (refused) {
      setError(/** @type {Error} */ (refused).message);
    }
  };
  return html`<form onSubmit=${begin}><${Seats} seats=${table} ...${{ setSeats, about }} />
    <p class="buttons"><button class="main" disabled=${refused || !about.host}>Play on from here</button></p><p class="error" role="alert">${error}</p></form>`;
}
