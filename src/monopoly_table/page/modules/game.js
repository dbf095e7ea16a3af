/** A live game: play it, or watch it. */
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "./ui.js";
import { Analysis } from "./analysis.js";
import { bids } from "./auction.js";
import { viewOf } from "./facts.js";
import { Help, useKeys } from "./keyboard.js";
import { Log } from "./log.js";
import { moved } from "./offer.js";
import { Players } from "./players.js";
import { Report } from "./report.js";
import { CommandLine, Question, VERBS, answers } from "./question.js";
import { GameSocket, address, ask, go } from "./server.js";
import { Name, Settings } from "./settings.js";
import { useSignals } from "./signals.js";
import { Stage } from "./stage.js";
import { Tabs } from "./tabs.js";
import { Who } from "./token.js";
import { Phrases, Said } from "./talk.js";
import { Desk } from "./trade.js";
import { money, told } from "./words.js";

/** @param {{game: string, about: import("./protocol.js").About}} props */
export function Game({ game, about }) {
  const [state, setState] = useState(/** @type {any} */ (null));
  const socket = useRef(/** @type {any} */ (null));
  useEffect(() => {
    socket.current = new GameSocket(game, setState);
    return () => socket.current.close();
  }, [game]);
  if (!state?.frame) return html`<main class="page"><p class="wait" role="status">${state?.error ?? "Opening the game …"}</p></main>`;
  return html`<${Table} ...${{ game, about, state }} socket=${socket.current} />`;
}

/** @param {any} props */
function Table({ game, about, state, socket }) {
  const view = useMemo(() => viewOf(state.frame, about), [state.frame, about]);
  const [verb, setVerb] = useState(/** @type {string|null} */ (null));
  const [square, setSquare] = useState(/** @type {number|null} */ (null));
  const [desk, setDesk] = useState(false);
  const [help, setHelp] = useState(false);
  const [hints, setHints] = useState(false);
  const [tab, setTab] = useState("log");
  const [error, setError] = useState("");
  const answered = useRef(""); // the position whose answer is under way
  const unnamed = view.players.find((player) => player.kind === "guest" && view.you.includes(player.seat) && player.name === `Player ${player.letter}`);
  const settling = useSettling(`${view.version} ${view.digest}`);

  const mine = view.you.includes(view.question?.seat ?? -1);
  useTitle(view, mine);
  useSignals(state, view, about, mine);
  useFocusKept(view.version);
  useLayoutEffect(() => { // at once: a key pressed after the paint opens a thing that stays open
    setError("");
    setDesk(false);
    if (!view.actions.some((action) => action.kind === verb)) setVerb(null);
  }, [view.version, view.digest]);
  useLayoutEffect(() => setError(state.error ?? ""), [state.error, state.online]);

  /** Send a choice; a second click on the same position does nothing. @param {any} message */
  const act = async (message) => {
    const position = `${view.version} ${view.digest}`;
    if (answered.current === position) return;
    answered.current = position;
    try {
      await socket.act(message);
      setError("");
      setSquare(null);
    } catch (refused) {
      setError(/** @type {Error} */ (refused).message);
    } finally {
      if (answered.current === position) answered.current = "";
    }
  };
  const answer = (/** @type {any} */ message) => (settling ? undefined : act(message));
  const choose = (/** @type {any} */ action) => answer({ type: "act", action: action.action });
  const bid = (/** @type {number} */ dollars) => answer({ type: "bid", dollars });
  const say = (/** @type {string} */ text) => {
    const found = view.actions.find((action) => action.text.toLowerCase() === text.toLowerCase());
    return socket.act({ type: "act", ...(found ? { action: found.action } : { text }) });
  };
  const undo = () => view.undo && act({ type: "undo" });
  const send = (/** @type {any} */ message) => socket.send(message).catch((/** @type {Error} */ refused) => setError(refused.message));
  const pause = () => about.host && send({ type: "speed", paused: !view.paused });
  const openVerb = (/** @type {string} */ kind) => () => view.actions.some((action) => action.kind === kind) && mine && setVerb(verb === kind ? null : kind);
  const showHints = (/** @type {boolean} */ on) => {
    setHints(on);
    if (on) setTab("analysis");
  };
  const openDesk = () => mine && view.may_offer.length && setDesk(!desk);

  const { raises, leave } = mine ? bids(view) : { raises: [], leave: [] };
  const numbered = raises.length ? raises : answers(view);
  useKeys({
    ...Object.fromEntries(numbered.slice(0, 9).map((action, number) => [String(number + 1), () => choose(action)])),
    ...(leave[0] ? { 0: () => choose(leave[0]) } : {}),
    ...Object.fromEntries(Object.entries(VERBS).map(([kind, { key }]) => [key, openVerb(kind)])),
    t: openDesk,
    u: undo,
    h: () => showHints(!hints),
    p: pause,
    "?": () => setHelp(true),
    "/": () => document.getElementById("command")?.focus(),
    g: () => /** @type {HTMLElement|null} */ (document.querySelector(".board [tabindex='0']"))?.focus(),
    Escape: () => {
      if (document.activeElement?.id === "command") /** @type {HTMLElement} */ (document.activeElement).blur();
      setDesk(false);
      setSquare(null);
      setVerb(null);
    },
  });

  const marked = mine && verb ? marks(view, verb) : view.question?.decision === "reply" ? moved(view) : undefined;
  const pick = (/** @type {number} */ where) => {
    const action = mine && verb && view.actions.find((each) => each.kind === verb && each.square === where);
    if (action) choose(action);
    else setSquare(where);
  };
  const recent = state.log.slice(-6).flatMap((/** @type {any} */ step) => told(step, view, about));
  return html`<main class="table" data-version=${view.version} data-asked=${mine ? view.question?.decision : ""} data-settling=${settling || undefined}>
    <h1 class="unseen">Game ${game}</h1>
    <${Players} ...${{ view, about }} show=${setSquare} />
    <${Stage} ...${{ view, about, recent, marked, square, setSquare, pick }} choose=${mine ? choose : undefined}>
      ${!state.online && html`<p class="notice" role="status">The connection is lost. Trying again …</p>`}
      <${Said} talk=${state.talk} view=${view} />
      ${view.stalled && html`<${Stalled} ...${{ view, about, send }} />`}
      ${error && html`<p class="error" role="alert">${error}</p>`}
      ${desk && mine
        ? html`<${Desk} key=${view.version} ...${{ view, about }} send=${(/** @type {any} */ message) => socket.send(message)}
            offer=${(/** @type {number} */ to, /** @type {any} */ give, /** @type {any} */ wanted) => socket.act({ type: "offer", to, give, ask: wanted })} close=${() => setDesk(false)} />`
        : html`<${Question} key=${view.version} ...${{ view, about, verb, setVerb, choose, bid }} trade=${openDesk} report=${() => showHints(true)}
            send=${(/** @type {any} */ message) => socket.send(message)} />`}
      ${unnamed && html`<${Name} player=${unnamed} send=${send} />`}
      ${view.you.length === 0 && !view.over && html`<${FreeSeats} ...${{ view, game }} />`}
      <p class="buttons tools">
        ${about.host && html`<button type="button" disabled=${!view.undo} title=${view.undo ? "" : "There is no decision to take back"} onClick=${undo}><kbd>u</kbd> Undo</button>`}
        ${about.host && !view.over && html`<button type="button" aria-pressed=${view.paused} onClick=${pause}><kbd>p</kbd> ${view.paused ? "Go on" : "Pause"}</button>`}
        <button type="button" onClick=${() => setHelp(true)}><kbd>?</kbd> Keys</button>
        <a class="button" href=${address({ game, frame: view.version })}>Look back</a>
        <${Phrases} ...${{ view, send }} />
      </p>
      ${mine && html`<${CommandLine} view=${view} say=${say} />`}
    <//>
    <aside class="side" aria-label="More">
      <${Tabs} label="More" open=${tab} setOpen=${setTab} tabs=${[
        { id: "log", title: "Log", body: () => html`<${Log} ...${{ view, about }} log=${state.log} link=${(/** @type {number} */ version) => address({ game, frame: version })} />` },
        { id: "analysis", title: "Analysis", body: () => (view.over
          ? html`<${Report} ...${{ game, about }} players=${view.players} last=${view.version} frame=${view.version} goTo=${(/** @type {number} */ frame) => go({ game, frame })} begin />`
          : html`<${Analysis} target=${{ game, version: view.version }} ...${{ view, about }} on=${hints} setOn=${showHints} />`) },
        { id: "settings", title: "Table", body: () => html`<${Settings} ...${{ game, view, about, send }} />` },
      ]} />
    </aside>
    ${help && html`<${Help} close=${() => setHelp(false)} />`}
  </main>`;
}

const SETTLE = 400; // milliseconds

/** Whether a question has just appeared: the second half of a double click was not meant for it. @param {string} question */
function useSettling(question) {
  const [settled, settle] = useState(question);
  useEffect(() => {
    const timer = setTimeout(() => settle(question), SETTLE);
    return () => clearTimeout(timer);
  }, [question]);
  return settled !== question;
}

/** The effect of a click on each square while a verb is chosen, or the reason why it has none. @param {import("./protocol.js").View} view @param {string} verb */
function marks(view, verb) {
  const found = /** @type {Map<number, string>} */ (new Map());
  for (const refusal of view.refusals) if (refusal.kind === verb && refusal.square !== null) found.set(refusal.square, `Not: ${refusal.text}`);
  for (const action of view.actions)
    if (action.kind === verb && action.square !== null) found.set(action.square, `${VERBS[verb].label}${action.dollars ? `, ${money(action.dollars)}` : ""}`);
  return found;
}

/** Say in the window's title whose turn it is. @param {import("./protocol.js").View} view @param {boolean} mine */
function useTitle(view, mine) {
  useEffect(() => {
    const who = view.question ? view.players[view.question.seat].name : "";
    document.title = view.over ? "The game is over – The table" : mine ? "● Your turn – The table" : `${who} – The table`;
  }, [view.version, mine]);
}

/** An answer takes its own button away: the focus then goes to the next question, not to nowhere. @param {number} version */
function useFocusKept(version) {
  const inside = useRef(false);
  inside.current = Boolean(document.activeElement?.closest?.(".dock"));
  useEffect(() => {
    if (inside.current && document.activeElement === document.body) document.getElementById("asked")?.focus({ preventScroll: true });
  }, [version]);
}

/** A policy that failed: the seat can be given to another. @param {any} props */
function Stalled({ view, about, send }) {
  const { seat, error } = view.stalled;
  const [policy, setPolicy] = useState("expert");
  return html`<section class="notice" role="alert">
    <p><${Who} player=${view.players[seat]} /> can't go on: ${error}</p>
    ${about.host && html`<p class="buttons"><select aria-label="Policy" value=${policy} onChange=${(/** @type {any} */ event) => setPolicy(event.target.value)}>
        ${about.policies.map((/** @type {any} */ each) => html`<option>${each.name}</option>`)}</select>
      <button type="button" class="main" onClick=${() => send({ type: "seat", seat, kind: "policy", policy })}>Give the seat to it</button></p>`}
  </section>`;
}

/** Free seats, for those who watch. @param {any} props */
function FreeSeats({ view, game }) {
  const [name, setName] = useState("");
  const [error, setError] = useState("");
  const free = view.players.filter((/** @type {any} */ player) => player.kind === "guest" && !player.connected && !player.out);
  if (!free.length) return null;
  const take = async (/** @type {number} */ seat) => {
    try {
      const { token } = await ask("POST", `/games/${game}/join`, { seat, name });
      go({ game, token });
    } catch (refused) {
      setError(/** @type {Error} */ (refused).message);
    }
  };
  return html`<section class="free" aria-label="Free seats">
    <label>Your name <input value=${name} maxlength="40" onInput=${(/** @type {any} */ event) => setName(event.target.value)} /></label>
    <p class="buttons">${free.map((/** @type {any} */ player) => html`<button type="button" class="main" onClick=${() => take(player.seat)}>Sit at ${player.letter}</button>`)}</p>
    <p class="error" role="status">${error}</p>
  </section>`;
}
