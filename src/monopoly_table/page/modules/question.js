/** The open question with a button for each legal answer. */
import { html, useState } from "./ui.js";
import { Auction } from "./auction.js";
import { Ending } from "./ending.js";
import { Offered } from "./offer.js";
import { Who } from "./token.js";
import { capital, money, verb } from "./words.js";

/** The kinds of action that name a lot, chosen on the board or from a list. */
export const VERBS = /** @type {Record<string, {label: string, key: string}>} */ ({
  build: { label: "Build", key: "b" },
  sell: { label: "Sell buildings", key: "s" },
  mortgage: { label: "Mortgage", key: "m" },
  unmortgage: { label: "Lift mortgages", key: "l" },
});
const ELSEWHERE = ["bid", "trade", "trade_ask", "trade_give", "trade_cash", ...Object.keys(VERBS)];
/** Answers that end or give up something stand back, behind the others. */
const QUIET = ["decline", "reject", "give up"];
const isQuiet = (/** @type {import("./protocol.js").Action} */ action) => Number(QUIET.includes(action.text));

/** The answers that get a large button and a digit. @param {import("./protocol.js").View} view */
export const answers = (view) =>
  view.you.includes(view.question?.seat ?? -1)
    ? view.actions.filter((action) => !ELSEWHERE.includes(action.kind) && !(action.text === "counter" && view.may_offer.length)).sort((a, b) => isQuiet(a) - isQuiet(b))
    : [];

/** Whether the button of an action shows its dollars: those that its text does not tell. @param {import("./protocol.js").Action} action */
const priced = (action) => action.dollars && !action.text.includes("$");

/**
 * @param {{view: import("./protocol.js").View, verb: string|null, setVerb: (verb: string|null) => void, trade: () => void,
 *   choose: (action: import("./protocol.js").Action) => void, bid: (dollars: number) => void, about: import("./protocol.js").About,
 *   send: (message: any) => Promise<any>, report: () => void}} props
 */
export function Question({ view, verb: open, setVerb, trade, choose, bid, about, send, report }) {
  const { question } = view;
  if (!question) return html`<${Ending} ...${{ view, about, report }} />`;
  const player = view.players[question.seat];
  const mine = view.you.includes(question.seat);
  const steps = view.actions.filter((action) => action.kind.startsWith("trade_"));
  return html`<section class="question ${mine ? "mine" : ""}" aria-label="The open question">
    <h2 tabindex="-1" id="asked"><${Who} player=${player} /> ${mine ? verb("decide", question.seat, view) : verb("are thinking", question.seat, view)}</h2>
    <p class=${question.decision === "reply" ? "subject unseen" : "subject"}>${question.text}</p>
    ${view.offer && question.decision === "reply" && html`<${Offered} ...${{ view, about, send }} />`}
    ${mine && html`
      ${view.auction && html`<${Auction} ...${{ view, choose, bid }} />`}
      <p class="buttons answers">${answers(view).map((action, number) => html`
        <button type="button" class=${isQuiet(action) ? "quiet" : "main"} data-action=${action.action} onClick=${() => choose(action)}>
          ${number < 9 && html`<kbd>${number + 1}</kbd>`} ${capital(action.text)}${priced(action) ? html` <small>${money(action.dollars ?? 0)}</small>` : ""}
        </button>`)}
        ${view.may_offer.length > 0 && html`<button type="button" data-trade onClick=${trade}><kbd>t</kbd> ${question.decision === "reply" ? "Counter-offer …" : "Trade …"}</button>`}
      </p>
      <${Verbs} ...${{ view, setVerb, choose }} verb=${open} />
      ${steps.length > 0 && html`<p class="buttons small">${steps.map((action) => html`<button type="button" onClick=${() => choose(action)}>${capital(action.text)}</button>`)}</p>`}
    `}
  </section>`;
}

/** @param {any} props */
function Verbs({ view, verb, setVerb, choose }) {
  const kinds = Object.keys(VERBS).filter((kind) => view.actions.some((/** @type {any} */ action) => action.kind === kind));
  if (!kinds.length) return null;
  const open = view.actions.filter((/** @type {any} */ action) => action.kind === verb);
  return html`<div class="verbs">
    <p class="buttons">${kinds.map((kind) => html`<button type="button" aria-pressed=${kind === verb} data-verb=${kind} onClick=${() => setVerb(kind === verb ? null : kind)}>
      <kbd>${VERBS[kind].key}</kbd> ${VERBS[kind].label}</button>`)}</p>
    ${open.length > 0 && html`<p class="hint">Click a marked square, or choose here:</p>
      <p class="buttons small">${open.map((/** @type {any} */ action) => html`<button type="button" data-action=${action.action} onClick=${() => choose(action)}>
        ${view.lots[action.lot]?.name ?? capital(action.text)}${action.dollars ? html` <small>${money(action.dollars)}</small>` : ""}</button>`)}</p>`}
  </div>`;
}

/** A line to type a move into. @param {{view: import("./protocol.js").View, say: (text: string) => Promise<any>}} props */
export function CommandLine({ view, say }) {
  const [text, setText] = useState("");
  const [error, setError] = useState("");
  const send = async (/** @type {any} */ event) => {
    event.preventDefault();
    if (!text.trim()) return;
    try {
      await say(text.trim());
      setText("");
      setError("");
    } catch (refused) {
      setError(/** @type {Error} */ (refused).message);
    }
  };
  return html`<form class="command" onSubmit=${send}>
    <label for="command">Type a move <kbd>/</kbd></label>
    <input id="command" list="moves" autocomplete="off" autocapitalize="off" spellcheck="false" value=${text}
      placeholder="build Boardwalk" onInput=${(/** @type {any} */ event) => setText(event.target.value)}
      aria-describedby="command-error" />
    <datalist id="moves">${view.actions.map((action) => html`<option value=${action.text}></option>`)}</datalist>
    <p id="command-error" class="error" role="status">${error}</p>
  </form>`;
}
