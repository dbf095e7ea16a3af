/** Reports on whole games: luck, skill, accuracy and the worst mistakes, as `monopoly_table.analysis` judges them. */
import { sum } from "../../../monopoly_env/browser/library.js";
import { OFFERING, Race, about, finalShares, movesOf, summary } from "./analysis.js";
import { Refusal } from "./engine.js";
import { mean, meanInterval } from "./numbers.js";

const SOON = 1500; // playouts of the first version, of all decisions together
const [FEWEST, MORE] = [4, 3]; // playouts of each decision at first; growth of the next version
const ASKED = 4; // times
const POINTS = 80; // of the curve, besides the contested decisions
const TOGETHER = 256; // playouts of a step before the actions
const [MISTAKES, SUSPECTS] = [5, 8];
const [CLOSELY, LOOK] = [300, 1500]; // playouts of the best actions of a suspect, milliseconds
const LOOKING = 0.1; // share of these analyses in the progress
const MOST = 10_000; // decisions

/** @param {number} progress */
const told = (progress) => ({ type: "report", progress: Math.round(progress * 1e4) / 1e4, done: false });

/** A contested decision, or another that the curve needs; an offer with all its picks is one. */
class Choice {
  /** @param {number} start @param {number} end @param {boolean} contested @param {any} facts before it @param {number} playouts */
  constructor(start, end, contested, facts, playouts) {
    this.start = start;
    this.end = end;
    this.contested = contested;
    this.player = facts.player;
    this.turn = facts.turns;
    this.before = Array(facts.num_players).fill(0); // sums of shares
    this.after = Array(facts.num_players).fill(0);
    this.lost = new Float32Array(playouts); // by the player who chose
  }
}

/**
 * @param {import("./analysis.js").Means} means @param {import("./recording.js").Recording} recording @param {string[]} names
 * @param {{policies: string[], playouts: number}} options
 */
export async function* report(means, recording, names, { policies, playouts }) {
  const { engine } = means, { version, actions } = recording, { formula, accuracy: [scale, rate, rest] } = engine.about;
  if (!(version > 0 && version <= MOST)) throw new Refusal(`A report needs a game of 1 to ${MOST} decisions; this one has ${version}.`);
  const facts = Array.from({ length: version }, (_, number) => engine.read(recording.record(number)));
  const offering = facts.map(({ decision }) => OFFERING.includes(engine.decisions[decision]));
  const choices = await choicesOf();
  const changed = Array.from({ length: playouts }, () => Array(policies.length).fill(0)); // by all choices, by playout
  const first = Array.from({ length: playouts }, () => Array(policies.length).fill(0)); // shares before the first choice
  const last = recording.record(version), ended = engine.read(last);
  const final = ended.decision ? summary((await means.rollout({ positions: [{ record: last, n: playouts, first: 0 }], policies }))[0], policies.length).map(({ share }) => share) : finalShares(ended);
  let done = 0, judged = null, suspects = /** @type {Choice[]} */ ([]);
  for (let count = Math.min(playouts, Math.max(FEWEST, Math.floor(SOON / (2 * choices.length)))); done < playouts; count = Math.min(playouts, MORE * count)) {
    const size = Math.max(1, Math.floor(TOGETHER / (count - done)));
    for (let at = 0; at < choices.length; at += size) {
      await play(choices.slice(at, at + size), done, count);
      yield told(((1 - LOOKING) * (done + ((count - done) * Math.min(1, (at + size) / choices.length)))) / playouts);
    }
    done = count;
    [judged, suspects] = judge(done);
    yield { ...judged, ...told(((1 - LOOKING) * done) / playouts) };
  }
  const mistakes = [];
  for (const [looked, choice] of suspects.entries()) {
    mistakes.push(...await mistake(choice));
    yield told(1 - LOOKING + (LOOKING * (looked + 1)) / suspects.length);
  }
  const clear = mistakes.filter((each) => each.clear).sort((one, other) => other.cost - one.cost).slice(0, MISTAKES);
  yield { ...judged, ...told(1), mistakes: clear, done: true };

  async function choicesOf() {
    const starts = facts.flatMap((_, number) => (!offering[number] || number === 0 ? [number] : []));
    const spread = new Set(Array.from({ length: POINTS }, (_, point) => Math.floor(((starts.length - 1) * point) / (POINTS - 1))));
    const found = [];
    for (const [place, start] of starts.entries()) {
      const end = (starts[place + 1] ?? version) - 1, contested = end > start || differs(start);
      if (contested || spread.has(place)) found.push(new Choice(start, end, contested, facts[start], playouts));
      if (place % 32 === 0) await new Promise((resolve) => setTimeout(resolve)); // games go on meanwhile
    }
    return found;
  }

  /** Whether the playout policy, which may be random, ever chooses otherwise. @param {number} number */
  function differs(number) {
    const { player, policy_draws: draws } = facts[number];
    return Array.from({ length: ASKED }, (_, draw) => draw).some((draw) => {
      const record = recording.record(number).slice();
      engine.write(record, "policy_draws", draws.map((/** @type {number} */ each) => each + draw));
      return engine.open(record).ask(policies[player]) !== actions[number];
    });
  }

  /** Add playouts before choices and, for contested ones, after them. @param {Choice[]} part @param {number} from @param {number} to */
  async function play(part, from, to) {
    const contested = part.filter((choice) => choice.contested), n = to - from, seats = policies.length;
    const found = await means.rollout({ policies, positions: [
      ...part.map(({ start }) => ({ record: recording.record(start), n, first: from })),
      ...contested.map(({ end }) => ({ record: recording.record(end), n, first: from, action: actions[end] }))] });
    for (const [place, choice] of part.entries()) {
      const before = found[place], after = choice.contested ? found[part.length + contested.indexOf(choice)] : before;
      for (let playout = 0; playout < n; playout++) {
        for (let seat = 0; seat < seats; seat++) {
          const [was, is] = [before[playout * seats + seat], after[playout * seats + seat]];
          choice.before[seat] += was;
          choice.after[seat] += is;
          changed[from + playout][seat] += is - was;
          if (seat === choice.player) choice.lost[from + playout] = was - is;
          if (choice === choices[0]) first[from + playout][seat] = was;
        }
      }
    }
  }

  /** The report after so many playouts, and the choices that may be mistakes. @param {number} count @returns {[any, Choice[]]} */
  function judge(count) {
    const loss = new Map(choices.map((choice) => {
      const [centre, low] = meanInterval(choice.lost.subarray(0, count));
      return [choice.start, low > 0 ? centre : 0];
    }));
    const own = (/** @type {Choice} */ choice) => (choice.after[choice.player] - choice.before[choice.player]) / count;
    const costly = choices.toSorted((one, other) => own(one) - own(other)).slice(0, SUSPECTS).filter(({ start }) => /** @type {number} */ (loss.get(start)) > 0);
    const players = names.map((name, seat) => player(name, seat, loss, count));
    return [{
      formula, playouts: count, players,
      curve: choices.map((choice) => ({ version: choice.start, turn: choice.turn, shares: choice.before.map((total) => total / count) })),
      mistakes: costly.slice(0, MISTAKES).map((choice) => ({ ...place(choice), cost: loss.get(choice.start), clear: false, best: null, chosen: null })),
      ...about(policies),
    }, costly];
  }

  /** @param {string} name @param {number} seat @param {Map<number, number>} loss @param {number} count */
  function player(name, seat, loss, count) {
    const mine = choices.filter((choice) => choice.player === seat), runs = Array.from({ length: count }, (_, playout) => playout);
    const lost = facts.flatMap((each, number) => (!offering[number] && each.player === seat ? [loss.get(number) ?? 0] : []));
    const skill = runs.map((playout) => -sum(mine.map((choice) => choice.lost[playout])));
    const every = runs.map((playout) => changed[playout][seat]), begun = runs.map((playout) => first[playout][seat]);
    const found = {
      seat, name, decisions: lost.length, accuracy: lost.length ? mean(lost.map((each) => Math.min(100, Math.max(0, scale * Math.exp(-rate * each) - rest)))) : null,
      luck: final[seat] - mean(begun) - mean(every), skill: mean(skill), others: mean(every) - mean(skill), first: mean(begun), final: final[seat],
    };
    const bounds = (/** @type {number[]} */ values) => meanInterval(values).slice(1);
    /** @type {Record<string, number[]>} */
    const intervals = { luck: bounds(runs.map((playout) => final[seat] - begun[playout] - every[playout])), skill: bounds(skill), others: bounds(runs.map((playout) => every[playout] - skill[playout])) };
    if (found.accuracy !== null) { // by the slope of the formula at each loss
      const slopes = mine.map(({ start }) => scale * rate * Math.exp(-rate * /** @type {number} */ (loss.get(start))));
      const scores = runs.map((playout) => -sum(mine.map((choice, number) => slopes[number] * choice.lost[playout])) / lost.length);
      const [centre, low, high] = meanInterval(scores), shift = found.accuracy - centre;
      intervals.accuracy = [Math.max(0, low + shift), Math.min(100, high + shift)];
    }
    return { ...found, intervals };
  }

  /** A choice as facts. @param {Choice} choice */
  function place({ start, end, player, turn }) {
    const made = end > start && end + 1 <= version ? engine.read(recording.record(end + 1)) : null;
    const offer = made && engine.decisions[made.decision] === "reply" ? ["to", "give", "ask", "cash"].map((part) => made[`offer_${part}`]) : null;
    return { version: start, seat: player, turn, action: actions[start], offer, frame: recording.frame(start) };
  }

  /** A choice with its best alternative. @param {Choice} choice */
  async function mistake(choice) {
    const { start, end } = choice, record = recording.record(start), action = actions[start];
    const taken = { action, record: recording.record(end), last: actions[end] };
    const race = new Race(means, record, [taken, ...movesOf(means, record).filter((move) => end > start || move.action !== action)], { policies, most: CLOSELY });
    for (const began = performance.now(); !race.isOver && performance.now() - began < LOOK;) await race.goOn(TOGETHER);
    const rows = race.candidates(), mine = rows.find((row, number) => race.ranked()[number].move === taken);
    if (!mine) return [];
    return [{ ...place(choice), cost: -mine.difference, clear: mine.difference_high < 0, best: rows[0], chosen: mine }];
  }
}
