/** A recorded or a running game, moment by moment. */
import { html, useEffect, useMemo, useRef, useState } from "./ui.js";
import { Analysis } from "./analysis.js";
import { actionOf, viewOf } from "./facts.js";
import { Course, folded, happenings, stops } from "./history.js";
import { Help, useKeys } from "./keyboard.js";
import { speeds } from "./levels.js";
import { Players } from "./players.js";
import { Report } from "./report.js";
import { Pictures } from "./save.js";
import { address, ask, go } from "./server.js";
import { Stage } from "./stage.js";
import { Tabs } from "./tabs.js";
import { Who } from "./token.js";
import { marks as marksOf, plain, told, verb } from "./words.js";

const KEPT = 200; // frames held in memory
const UPLOADED = "r"; // how the ids of games begin that cannot be played

/** Nobody is away from a recorded game. @param {import("./protocol.js").View} view */
const present = (view) => ({ ...view, players: view.players.map((player) => ({ ...player, connected: true })) });

/** @param {{game: string, start: number, about: import("./protocol.js").About}} props */
export function Replay({ game, start, about }) {
  const [index, setIndex] = useState(/** @type {any} */ (null));
  const [frame, setFrame] = useState(start);
  const [shown, setShown] = useState(/** @type {any} */ (null));
  const [error, setError] = useState("");
  const frames = useRef(/** @type {Map<number, any>} */ (new Map()));
  const last = index?.version ?? 0;
  const goTo = (/** @type {number} */ wanted) => setFrame(Math.max(0, Math.min(last, wanted)));

  useEffect(() => {
    frames.current.clear();
    ask("GET", `/games/${game}/index`).then((answer) => {
      setIndex(answer);
      setFrame((now) => Math.min(now, answer.version));
    }, (refused) => setError(refused.message));
  }, [game]);
  useEffect(() => {
    history.replaceState(null, "", address({ game, frame }));
    const known = frames.current.get(frame);
    if (known) return setShown(known);
    const abort = new AbortController();
    const load = async () => {
      try {
        const answer = { ...(await ask("GET", `/games/${game}/frames/${frame}`, undefined, abort.signal)), number: frame };
        if (frames.current.size >= KEPT) frames.current.delete(frames.current.keys().next().value ?? 0);
        frames.current.set(frame, answer);
        setShown(answer);
        setError("");
      } catch (refused) {
        if (!abort.signal.aborted) setError(/** @type {Error} */ (refused).message);
      }
    };
    const timer = setTimeout(load, 30); // a dragged scrubber asks only where it rests
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [game, frame]);
  if (!shown || !index) return html`<main class="page"><p class="wait" role=${error ? "alert" : "status"}>${error || "Opening the game …"}</p></main>`;
  return html`<${Moment} ...${{ game, about, index, frame, goTo, shown, error }} />`;
}

/** The frame where the turn before or after begins. @param {number[]} turns @param {number} frame @param {number} by */
function otherTurn(turns, frame, by) {
  const wanted = by > 0 ? turns[frame] + 1 : turns[frame] - (turns.indexOf(turns[frame]) === frame ? 1 : 0);
  const found = by > 0 ? turns.findIndex((turn) => turn >= wanted) : turns.indexOf(turns.findLast((turn) => turn <= wanted) ?? turns[0]);
  return found < 0 ? turns.length - 1 : found;
}

/** @param {any} props */
function Moment({ game, about, index, frame, goTo, shown, error }) {
  const view = useMemo(() => present(viewOf(shown.frame, about)), [shown, about]);
  const course = useMemo(() => folded(happenings(index, view, about), view, about), [index, about]);
  const [every, setEvery] = useState(false);
  const [seconds, setSeconds] = useState(0.6);
  const [running, setRunning] = useState(false);
  const all = useMemo(() => marksOf(index, view, about), [index, about]);
  const [square, setSquare] = useState(/** @type {number|null} */ (null));
  const [tab, setTab] = useState("log");
  const [analysing, setAnalysing] = useState(false);
  const [help, setHelp] = useState(false);
  const [kind, setKind] = useState("all");
  const last = index.version;
  const halts = useMemo(() => stops(course, last, every), [course, last, every]);
  const step = (/** @type {number} */ by) => goTo((by > 0 ? halts.find((halt) => halt > frame) : halts.findLast((halt) => halt < frame)) ?? frame);
  useEffect(() => {
    if (!running) return undefined;
    if (frame >= last) return setRunning(false);
    const timer = setTimeout(() => step(1), 1000 * seconds);
    return () => clearTimeout(timer);
  }, [running, frame, seconds, every]);
  const marks = all.filter((/** @type {any} */ mark) => kind === "all" || mark.kind === kind);
  const next = () => goTo(marks.find((/** @type {any} */ mark) => mark.frame > frame)?.frame ?? last);
  const previous = () => goTo(marks.findLast((/** @type {any} */ mark) => mark.frame < frame)?.frame ?? 0);
  const decision = (/** @type {number} */ seat) => {
    const found = index.seats.findIndex((/** @type {number} */ each, /** @type {number} */ at) => at > frame && each === seat);
    goTo(found < 0 ? last : found);
  };
  useKeys({
    ArrowLeft: () => step(-1),
    ArrowRight: () => step(1),
    ArrowUp: () => goTo(otherTurn(index.turns, frame, -1)),
    ArrowDown: () => goTo(otherTurn(index.turns, frame, 1)),
    Home: () => goTo(0),
    End: () => goTo(last),
    " ": () => setRunning(!running),
    n: next,
    N: previous,
    h: () => {
      setAnalysing(!analysing);
      setTab("analysis");
    },
    "?": () => setHelp(true),
    Escape: () => setSquare(null),
  });
  const { chosen } = view;
  const kinds = [...new Set(all.map((mark) => mark.kind))];
  return html`<main class="table replay" data-frame=${shown.number}>
    <h1 class="unseen">Replay of game ${game}</h1>
    <${Players} ...${{ view, about }} show=${setSquare} />
    <${Stage} ...${{ view, about, square, setSquare }} recent=${shown.step ? told(shown.step, view, about) : []}>
      ${error && html`<p class="error" role="alert">${error}</p>`}
      <${Scrubber} ...${{ frame, last, goTo, step, running, setRunning, turn: view.turn }} />
      <section class="question" aria-label="The open question">
        ${view.question
          ? html`<h2><${Who} player=${view.players[view.question.seat]} /> ${verb("decide", view.question.seat, view)}</h2><p class="subject">${view.question.text}</p>
              ${chosen !== null && html`<p>Chose: <strong>${actionOf(chosen, view, about).text}</strong></p>`}`
          : html`<h2>${view.winners.map((seat) => view.players[seat].name).join(" and ")} won</h2>`}
      </section>
      <p class="buttons small">
        <label>Speed <select data-speed value=${seconds} onChange=${(/** @type {any} */ event) => setSeconds(Number(event.target.value))}>
          ${speeds(seconds).filter(([, pause]) => pause > 0).map(([name, pause]) => html`<option value=${pause}>${name}</option>`)}</select></label>
        <label><input type="checkbox" data-every checked=${every} onChange=${(/** @type {any} */ event) => setEvery(event.target.checked)} /> every decision</label>
        <label>Go to <select value=${kind} onChange=${(/** @type {any} */ event) => setKind(event.target.value)}>
          <option value="all">any event</option>${kinds.map((/** @type {any} */ each) => html`<option value=${each}>${plain(each)}</option>`)}</select></label>
        <button type="button" onClick=${previous}>‹ previous</button><button type="button" onClick=${next}>next ›</button>
        ${view.players.map((player) => html`<button type="button" title=${`The next decision of ${player.name}`} onClick=${() => decision(player.seat)}>${player.letter}'s next</button>`)}
      </p>
      <p class="buttons tools">
        <button type="button" onClick=${() => setHelp(true)}><kbd>?</kbd> Keys</button>
        ${about.host && html`<a class="button" href=${address({ editor: 1, game, frame })}>Edit, or play on from here</a>`}
        ${!game.startsWith(UPLOADED) && html`<a class="button" href=${address({ game })}>To the game</a>`}
        <${Pictures} ...${{ view, about }} />
      </p>
    <//>
    <aside class="side" aria-label="More">
      <${Tabs} label="More" open=${tab} setOpen=${setTab} tabs=${[
        { id: "log", title: "Log", body: () => html`<${Course} ...${{ course, frame, goTo }} />` },
        { id: "analysis", title: "Moment", body: () => html`<${Analysis} target=${{ game, version: frame }} ...${{ view, about, chosen }} on=${analysing} setOn=${setAnalysing} />` },
        { id: "report", title: "Whole game", body: () => html`<${Report} ...${{ game, about, last, frame, goTo }} players=${view.players} />` },
      ]} />
    </aside>
    ${help && html`<${Help} close=${() => setHelp(false)} />`}
  </main>`;
}

/** @param {any} props */
function Scrubber({ frame, last, goTo, step, running, setRunning, turn }) {
  return html`<div class="scrubber">
    <p class="buttons">
      <button type="button" aria-label="To the start" onClick=${() => goTo(0)}>«</button>
      <button type="button" aria-label="One step back" onClick=${() => step(-1)}>◀</button>
      <button type="button" class="main" aria-pressed=${running} aria-label=${running ? "Stop" : "Play"} onClick=${() => setRunning(!running)}>${running ? "❚❚" : "▶︎"}</button>
      <button type="button" aria-label="One step forward" onClick=${() => step(1)}>▶</button>
      <button type="button" aria-label="To the end" onClick=${() => goTo(last)}>»</button>
    </p>
    <input type="range" min="0" max=${last} value=${frame} aria-label="Decision" aria-valuetext=${`Decision ${frame} of ${last}, turn ${turn}`}
      onInput=${(/** @type {any} */ event) => goTo(Number(event.target.value))} />
    <p class="fine">Decision ${frame} of ${last}, turn ${turn}</p>
  </div>`;
}
