/** The words of the page: numbers, names, actions, questions, refusals and events as people say them. */

const DECKS = ["chance", "community_chest"];
const DECK_NAMES = ["Chance", "Community Chest"];
const [BANK, POT, OTHERS] = [-1, -2, -3]; // creditors that are no player
const CHANCE_GOOD = 28; // goods of an offer: 28 lots, then the two jail cards
const [HOUSE, HOTEL] = [28, 29]; // pieces in an auction
const CURRENCY = /** @type {Record<string, string>} */ ({ uk: "£" });
let sign = "$";

/** Write money in the currency of a board from now on. @param {string} board */
export const payIn = (board) => void (sign = CURRENCY[board] ?? "$");

/** @param {number} amount */
export const money = (amount) => (amount < 0 ? "−" : "") + sign + Math.abs(amount).toLocaleString("en-US");

/** A share as a percentage with one digit. @param {number} share */
export const percent = (share) => `${(100 * share).toFixed(1)}%`;

/** A difference of shares in points, with its sign. @param {number} share */
export const points = (share) => `${share < 0 ? "−" : "+"}${Math.abs(100 * share).toFixed(1)}`;

/** An interval of differences in points. @param {number[]} bounds low and high */
export const range = ([low, high]) => `${points(low)} to ${points(high)}`;

/** @param {number} count @param {string} noun */
export const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** @param {string} text */
export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** `light_blue` as people write it. @param {string} name */
export const plain = (name) => name.replaceAll("_", " ");

/** @param {string[]} parts */
export const joined = (parts) => (parts.length < 2 ? parts[0] ?? "" : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`);

/** @param {number} level */
export const built = (level) => (level === 5 ? "hotel" : level ? counted(level, "house") : "");

/** What the presets of the rules are, in a line. @type {Record<string, string>} */
export const PRESETS = {
  official: "The booklet of 2007: auctions, even building, no cash on Free Parking.",
  any_time: "Official, but everybody may build and trade before each throw.",
  modern: "Official, but auctions start at 10 dollars.",
  short: "An hour: three deeds each at the start, hotels after three houses, the first bankruptcy ends it.",
  classic: "The board before 2008: income tax is 10% or 200 dollars, luxury tax 75.",
  uk: "The streets of London, in pounds.",
  ocnaru: "The rules of Ocnaru's thesis, for two.",
  mukhar: "The rules of Mukhar's study.",
  mukhar_trading: "The rules of Mukhar's study, with official trades.",
  mukhar_thesis: "The rules of Mukhar's study, ended after 500 turns.",
  pring: "London by Pring's rules: one deed for one, 20,000 pounds win.",
  frayn: "The rules of Frayn's program, which are the official ones.",
};

/** How games end, by the rules' own words. @type {Record<string, string>} */
export const ENDINGS = {
  "one player is left": "All others are bankrupt.",
  "a bankruptcy ended it": "The first bankruptcy ended it: worth decides.",
  "a cap was reached": "The limit of turns was reached: worth decides.",
  "a player reached the winning cash": "The winning cash was reached.",
};

/** The kinds of puzzles, by the decision. @type {Record<string, string>} */
export const PUZZLES = { buy: "Buy or not", bid: "Auction", build: "Build", jail: "Jail", trade: "Offer", money: "Raise cash" };

/** How hard a puzzle is, by the distance of the best move from the next. @param {number} gap */
export const difficulty = (gap) => (gap >= 0.2 ? "easy" : gap >= 0.09 ? "medium" : "hard");

/** What the other moves lose. @param {number[]} losses shares of the win, of each */
export function lose(losses) {
  const [least, most] = [Math.min(...losses), Math.max(...losses)].map((loss) => (100 * loss).toFixed(1));
  const what = least === most ? `${least} points` : `${least} to ${most} points`;
  return losses.length === 1 ? `The other move loses ${what} of the win.` : `The other moves lose ${what} of the win.`;
}

/** What people say with a click: eight phrases, as docs/protocol.md has it. */
export const PHRASES = ["Hello!", "Good luck!", "Well played.", "Make me an offer.", "Sorry!", "Thanks!", "One moment, please.", "Good game!"];

export const CARDS = /** @type {Record<string, string>} */ ({ chance: "Chance jail card", community_chest: "Community Chest jail card" });

// --- goods

/** A lot by its name on a board; in an auction also a house or a hotel. @param {number} lot @param {string} board @param {any} about */
export function lotName(lot, board, about) {
  if (lot === HOUSE) return "a house";
  if (lot === HOTEL) return "a hotel";
  return about.boards[board].find((/** @type {any} */ face) => face.lot === lot).name;
}

/** Goods from bits: 28 lots, then the two jail cards. @param {number} bits @param {number} dollars */
export function goods(bits, dollars) {
  const lots = Array.from({ length: CHANCE_GOOD }, (_, lot) => lot).filter((lot) => (bits >> lot) & 1);
  return { lots, cards: DECKS.filter((_, deck) => (bits >> (CHANCE_GOOD + deck)) & 1), dollars };
}

/** Goods in words. @param {import("./protocol.js").Goods} goods @param {(lot: number) => string} nameOf */
export function inWords(goods, nameOf) {
  const names = [...goods.lots.map(nameOf), ...goods.cards.map((card) => `the ${CARDS[card] ?? card}`)];
  if (goods.dollars > 0) names.push(money(goods.dollars));
  return joined(names) || "nothing";
}

// --- people

/** Whether a sentence about a seat says "you". @param {number} seat @param {any} view */
export const isYou = (seat, view) => view.players[seat].name === "You" || (view.you.length === 1 && view.you[0] === seat);

/** A seat at the start of a sentence. @param {number} seat @param {any} view */
export const subject = (seat, view) => (isYou(seat, view) ? "You" : view.players[seat].name);

/** A seat within a sentence. @param {number} seat @param {any} view */
export const object = (seat, view) => (isYou(seat, view) ? "you" : view.players[seat].name);

/** @param {number} seat @param {any} view */
const possessive = (seat, view) => (isYou(seat, view) ? "your" : `${view.players[seat].name}'s`);

const IRREGULAR = /** @type {Record<string, string>} */ ({ are: "is", have: "has", do: "does", go: "goes", "don't": "doesn't" });

/** A verb as it follows a name. @param {string} verb as it follows "you" */
function third(verb) {
  const [first, ...rest] = verb.split(" ");
  const last = IRREGULAR[first] ?? (/(s|sh|ch|x|z)$/.test(first) ? `${first}es` : /[^aeiou]y$/.test(first) ? `${first.slice(0, -1)}ies` : `${first}s`);
  return [last, ...rest].join(" ");
}

/** A verb behind the name of a player, which may be "You". @param {string} verb @param {number} seat @param {any} view */
export const verb = (verb, seat, view) => (view.players[seat].name === "You" ? verb : third(verb));

/** A verb in a sentence about a seat. @param {string} verb @param {number} seat @param {any} view */
const does = (verb, seat, view) => (isYou(seat, view) ? verb : third(verb));

/** A whole clause. @param {number} seat @param {string} what @param {any} view */
const says = (seat, what, view) => `${subject(seat, view)} ${does(what, seat, view)}`;

/** Where a player is. @param {number} seat @param {any} view @param {any} about */
export function where(seat, view, about) {
  const failed = view.record.jail[seat] - 1;
  if (failed >= 0) return failed ? `in jail, ${counted(failed, "failed throw")}` : "in jail";
  return about.boards[view.rules.board][view.record.position[seat]].name;
}

/** The receiver of a payment. @param {number} creditor @param {any} view */
function payee(creditor, view) {
  if (creditor >= 0) return object(creditor, view);
  if (creditor === OTHERS) return "the others";
  return creditor === POT && view.rules.changed.free_parking_pot ? "Free Parking" : "the bank";
}

// --- actions

const FIXED = /** @type {Record<string, string[]>} */ ({
  buy: ["decline", "buy"],
  jail: ["pay the fine", "use a jail card"],
  reply: ["reject", "accept", "counter"],
});
const CHOICES = /** @type {Record<string, [string, string]>} */ ({
  fine_or_chance: ["pay the fine", "draw a Chance card"],
  takeover: ["keep the mortgage", "lift the mortgage"],
});
const ON_LOT = /** @type {Record<string, string>} */ ({ build: "build", sell: "sell", mortgage: "mortgage", unmortgage: "unmortgage", trade_ask: "ask for", trade_give: "give" });
const GO_ON = /** @type {Record<string, string>} */ ({ before_throw: "throw the dice", after_throw: "end the turn", out_of_turn: "go on" });

/** An action: the one name that it has everywhere. @param {any} action @param {any} view @param {any} about @returns {string} */
export function actionText(action, view, about) {
  const { kind, index } = action;
  const decision = view.question?.decision ?? "over";
  if (kind === "turn") return goingOn(view);
  if (FIXED[kind]) return FIXED[kind][index];
  if (kind === "bid") return index ? `bid +${about.notes.at(-index)}` : decision === "sealed_bid" ? "done" : "fold";
  if (kind === "trade") return `trade with ${view.players[action.to].name}`;
  if (kind === "choice") return decision === "tax" ? ["pay " + money(action.dollars ?? 200), `pay a tenth, ${money(action.dollars ?? 0)}`][index] : CHOICES[decision]?.[index] ?? `answer ${index + 1}`;
  if (kind === "trade_cash") return cashStep(index, about);
  if (action.lot !== null) return `${ON_LOT[kind]} ${view.lots[action.lot].name}`;
  const step = kind === "trade_ask" ? "ask" : "give";
  return [`${ON_LOT[kind]} the Chance jail card`, `${ON_LOT[kind]} the Community Chest jail card`, `${step}: done`, `${step}: cancel`][index - CHANCE_GOOD];
}

/** @param {any} view */
function goingOn({ question }) {
  if (question?.decision === "debt") return "give up";
  if (question?.decision === "jail") return question.numbers[0] ? "stay in jail" : "throw the dice";
  return GO_ON[question?.when] ?? "go on";
}

/** @param {number} index @param {any} about */
function cashStep(index, about) {
  const notes = about.notes.length;
  if (index === 0) return "cash: done";
  if (index > 2 * notes) return "cash: cancel";
  return index > notes ? `ask for ${money(about.notes[index - notes - 1])}` : `give ${money(about.notes[index - 1])}`;
}

// --- questions

/** The open question: a sentence or two for the player, or about the player. @param {any} view @param {any} about @returns {string} */
export function questionText(view, about) {
  const { seat, decision, when, numbers } = view.question;
  const [you, name] = [isYou(seat, view), subject(seat, view)];
  const lot = () => lotName(numbers[0], view.rules.board, about);
  switch (decision) {
    case "buy":
      return `${lot()} is for sale at ${money(about.boards[view.rules.board].find((/** @type {any} */ face) => face.lot === numbers[0]).price)}.`;
    case "bid":
    case "sealed_bid":
      return auctionText(view);
    case "place":
      return `${says(seat, `have won ${lot()}`, view)}: on which street?`;
    case "turn":
      return { before_throw: you ? "It is your turn." : `It is ${name}'s turn.`, after_throw: `${says(seat, "have thrown", view)}.`, out_of_turn: `${name} may build, mortgage or trade before the game goes on.` }[/** @type {"before_throw"} */ (when)] ?? "";
    case "jail":
      return numbers[0] ? `${says(seat, "have thrown no double", view)} in jail.` : `${says(seat, "are in jail", view)}.`;
    case "debt":
      return debtText(view);
    case "tax":
      return "Income tax.";
    case "fine_or_chance":
      return `A fine of ${money(numbers[0])}, or a Chance card.`;
    case "takeover":
      return `${lot()} comes with a mortgage.`;
    default:
      return view.offer ? offerText(view) : "";
  }
}

/** @param {any} view */
function auctionText(view) {
  const { auction, question } = view;
  if (!auction.sealed) return `Auction of ${auction.name}: ${auction.leader === null ? "no bid yet" : `${object(auction.leader, view)} ${isYou(auction.leader, view) ? "have" : "has"} bid ${money(auction.bid)}`}.`;
  const mine = view.you.includes(question.seat);
  return `Auction of ${auction.name} by sealed bids: ${mine && auction.written ? `${possessive(question.seat, view)} maximum is ${money(auction.written)} so far` : `${object(question.seat, view)} ${does("write", question.seat, view)} a sealed bid`}.`;
}

/** A debt, and what is still to be raised. @param {any} view */
function debtText(view) {
  const { seat, numbers } = view.question;
  const cash = view.record.cash[seat];
  return `${says(seat, `owe ${payee(numbers[1], view)} ${money(numbers[0])}`, view)} and ${does("have", seat, view)} ${money(cash)}: ${money(Math.max(0, numbers[0] - cash))} to raise.`;
}

/** @param {any} view */
function offerText(view) {
  const { offer, question } = view;
  const nameOf = (/** @type {number} */ lot) => view.lots[lot].name;
  const so_far = question.decision === "reply" ? "" : ", so far";
  return `${says(offer.from, `offer ${object(offer.to, view)}`, view)} ${inWords(offer.give, nameOf)} for ${inWords(offer.ask, nameOf)}${offer.counter ? ", a counter-offer" : ""}${so_far}.`;
}

// --- refusals

/** Why an action on the board is not possible. @param {string} reason @param {any} action @param {any} view @param {any} about @returns {string} */
export function reasonText(reason, action, view, about) {
  const lot = view.lots[action.lot];
  const group = view.lots.filter((/** @type {any} */ each) => each.group === lot.group);
  const seat = view.question.seat;
  const has = () => `${money(action.dollars ?? 0)}, and ${says(seat, "have", view).replace(/^You/, "you")} ${money(view.record.cash[seat])}`;
  switch (reason) {
    case "not_yours":
      return `${lot.name} belongs to ${object(lot.owner, view)}.`;
    case "group_missing": {
      const missing = group.find((/** @type {any} */ each) => each.owner !== seat);
      return `${lot.name}: the whole colour is needed; ${missing.name} is missing.`;
    }
    case "group_mortgaged":
      return `${lot.name}: a property of this colour is mortgaged.`;
    case "hotel":
      return `${lot.name} has a hotel.`;
    case "build_evenly": {
      const lowest = Math.min(...group.map((/** @type {any} */ each) => each.level));
      return `${lot.name}: build evenly; another street of this colour has ${lowest ? `only ${built(lowest)}` : "no house yet"}.`;
    }
    case "cash":
      return `${lot.name} costs ${has()}.`;
    default:
      return `${lot.name}: ${REASONS[reason] ?? plain(reason)}.`;
  }
}

const REASONS = /** @type {Record<string, string>} */ ({
  another_time: "not at this moment",
  no_house: "the bank has no house left",
  no_hotel: "the bank has no hotel left",
  sell_evenly: "sell evenly; another street of this colour has more",
  no_houses_for_hotel: "the bank has no houses to break the hotel into, or the rules do not allow it now",
  buildings: "the buildings of this colour have to be sold first",
  rules: "the rules do not allow it now",
});

/** Why an offer can't be made. @param {string} reason @param {number} seat @param {number} good @param {any} view @param {any} about @returns {string} */
export function offerReason(reason, seat, good, view, about) {
  const name = good < 0 ? "" : good < CHANCE_GOOD ? lotName(good, view.rules.board, about) : `the ${CARDS[DECKS[good - CHANCE_GOOD]]}`;
  const known = /** @type {Record<string, () => string>} */ ({
    partner: () => `No offer to ${object(seat, view)} is possible now.`,
    not_owned: () => `${says(seat, `don't own ${name}`, view)}.`,
    buildings: () => `${name}: the buildings of this colour have to be sold first.`,
    traded: () => `${capital(name)} has changed hands in this turn already.`,
    cash: () => `${says(seat, "have", view)} only ${money(view.record.cash[seat])}.`,
    too_much: () => "That is more money than an offer can hold.",
    empty: () => "An offer needs a property or a card; by some rules one from each side.",
    repeated: () => "This offer was rejected in this turn already, or somebody lacks the cash for it and for the fees on mortgages.",
    sum: () => "The rules do not allow this sum in an offer.",
    rules: () => "The rules do not allow this combination in an offer.",
  });
  return known[reason]?.() ?? plain(reason);
}

// --- events

/**
 * A row of events: kind, seat, four numbers, task. @typedef {number[]} Row
 * @typedef {{view: any, about: any, rows: Row[], row: Row, seat: number, numbers: number[], paid: number, got: number}} Told
 *   paid, got: what the seat paid to the bank or received in the same task
 */

/** What the player of an event does, as it follows "you"; empty: nothing to say. @type {Record<string, (told: Told) => string>} */
const DOES = {
  throw: ({ numbers: [first, second] }) => `throw ${first + second}${first === second ? " (a double)" : ""}`,
  card: ({ numbers: [deck, card], view, about }) => `draw a card from ${DECK_NAMES[deck]}: “${about.cards[view.rules.board][DECKS[deck]][card]}”`,
  go_to_jail: () => "go to jail",
  stay_in_jail: () => "stay in jail",
  leave_jail: () => "leave jail",
  move: ({ numbers: [to], view, about }) => `land on ${about.boards[view.rules.board][to].name}`,
  owe: ({ numbers: [dollars, creditor], view }) => `owe ${payee(creditor, view)} ${money(dollars)}, more than is at hand`,
  offer: ({ numbers, view }) => offerMove(numbers, view),
  bid: ({ numbers: [dollars] }) => `bid ${money(dollars)}`,
  get: (told) => (told.paid ? `buy ${lotNames(told)} for ${money(told.paid)}` : `get ${lotNames(told)}`),
  mortgage: (told) => `mortgage ${lotNames(told)}${told.got ? ` for ${money(told.got)}` : ""}`,
  lift: (told) => `lift the mortgage on ${lotNames(told)}${told.paid ? ` for ${money(told.paid)}` : ""}`,
  complete: ({ numbers: [group], about }) => `complete ${groupName(group, about)}`,
  jail_card: ({ numbers: [deck] }) => `get the ${CARDS[DECKS[deck]]}`,
  build: ({ numbers: [lot, level], view, paid }) => `build ${BUILT[level - 1]} on ${view.lots[lot].name}${paid ? ` for ${money(paid)}` : ""}`,
  sell: ({ numbers: [lot, level], view, got }) => `sell down to ${level ? built(level) : "no house"} on ${view.lots[lot].name}${got ? ` for ${money(got)}` : ""}`,
  pay: (told) => (told.numbers[1] < 0 ? (priced(told) ? "" : `pay ${money(told.numbers[0])}`) : `pay ${object(told.numbers[1], told.view)} ${money(told.numbers[0])}${isRent(told) ? " rent" : ""}`),
  receive: (told) => (priced(told) ? "" : `collect ${money(told.numbers[0])}${passesGo(told) ? " for passing GO" : ""}`),
  bankrupt: () => "are bankrupt",
  chose: (told) => choice(told),
};

/** An offer by its numbers: the partner, goods given and asked for, dollars given. @param {number[]} numbers @param {any} view */
export function offerMove([to, give, ask, cash], view) {
  const nameOf = (/** @type {number} */ lot) => view.lots[lot].name;
  return `offer ${object(to, view)} ${inWords(goods(give, Math.max(0, cash)), nameOf)} for ${inWords(goods(ask, Math.max(0, -cash)), nameOf)}`;
}

const BUILT = ["a house", "a second house", "a third house", "a fourth house", "a hotel"];
const PRICED = ["get", "mortgage", "lift", "build", "sell"]; // they name their price

/** What happens without a player. @type {Record<string, (told: Told) => string>} */
const HAPPENS = {
  turn: ({ numbers: [turn], seat, view }) => `Turn ${turn}: ${subject(seat, view)}`,
  utility_throw: ({ numbers: [first, second] }) => `The dice for the utility: ${first + second}.`,
  auction: ({ numbers: [lot], view, about }) => `${capital(lotName(lot, view.rules.board, about))} is auctioned.`,
  unsold: () => "Nobody bids.",
  return: ({ numbers: [lot], view }) => `${view.lots[lot].name} goes back to the bank.`,
  over: ({ numbers: [, winners], view }) => {
    const won = view.players.map((/** @type {any} */ _, /** @type {number} */ seat) => seat).filter((/** @type {number} */ seat) => (winners >> seat) & 1);
    return `The game is over: ${won.length === 1 ? says(won[0], "win", view) : `${joined(won.map((/** @type {number} */ seat) => subject(seat, view)))} share the win`}.`;
  },
};

/** @param {Told} told */
const lotNames = ({ numbers: [bits], view }) => joined(goods(bits, 0).lots.map((lot) => view.lots[lot].name));

/** A group by its colour, as in "you complete light blue". @param {number} group @param {any} about */
export const groupName = (group, about) => ({ railroad: "the railroads", utility: "the utilities" })[/** @type {string} */ (about.groups[group].name)] ?? plain(about.groups[group].name);

/** Whether another event of the task names this sum. @param {Told} told */
const priced = ({ rows, row, about }) => rows.some((other) => other.at(-1) === row.at(-1) && other[1] === row[1] && PRICED.includes(kindOf(other, about)));

/** Whether a payment is a rent: the payer has just landed, and no card is the reason. @param {Told} told */
const isRent = ({ rows, row, about }) => {
  const before = rows.slice(0, rows.indexOf(row)).filter((other) => other[1] === row[1]).map((other) => kindOf(other, about));
  return before.lastIndexOf("move") > before.lastIndexOf("card");
};

/** @param {Told} told */
const passesGo = ({ rows, row, about }) => rows.some((other) => other.at(-1) === row.at(-1) && other[1] === row[1] && kindOf(other, about) === "move" && other[2] < other[3]);

/** @param {Told} told */
function choice({ numbers: [action, decision, maker], view, about }) {
  const head = about.heads.findLast((/** @type {any} */ each) => each.start <= action);
  const index = action - head.start;
  const offer = maker >= 0 ? `${possessive(maker, view)} offer` : "the offer";
  if (head.name === "buy") return "don't buy it";
  if (head.name === "bid") return about.decisions[decision] === "sealed_bid" ? "have written a bid" : "leave the auction";
  if (head.name === "reply") return [`reject ${offer}`, `accept ${offer}`, `answer ${offer} with another`][index];
  if (head.name === "jail") return "use a jail card";
  return about.decisions[decision] === "tax" ? ["choose the flat tax", "choose to pay a tenth"][index] : CHOICES[about.decisions[decision]]?.[index] ?? "";
}

/** @param {Row} row @param {any} about @returns {string} */
export const kindOf = (row, about) => Object.keys(about.events)[row[0]];

/**
 * The events of a step as sentences; those of one task and player are one.
 * @param {Row[]} rows @param {any} view @param {any} about @returns {string[]}
 */
export function sentences(rows, view, about) {
  const found = /** @type {{key: string, seat: number, clauses: string[]}[]} */ ([]);
  for (const row of rows) {
    const [number, seat, ...rest] = row;
    const kind = Object.keys(about.events)[number];
    const sum = (/** @type {(other: Row) => boolean} */ counts) => rows.filter((other) => other.at(-1) === row.at(-1) && other[1] === seat && counts(other)).reduce((total, other) => total + other[2], 0);
    const paid = sum((other) => kindOf(other, about) === "pay" && other[3] === BANK);
    const told = { view, about, rows, row, seat, numbers: rest.slice(0, -1), paid, got: sum((other) => kindOf(other, about) === "receive") };
    if (HAPPENS[kind]) found.push({ key: "", seat: -1, clauses: [HAPPENS[kind](told)] });
    const clause = DOES[kind]?.(told);
    if (!clause) continue;
    const key = `${row.at(-1)} ${seat}`;
    if (found.at(-1)?.key === key) found.at(-1)?.clauses.push(does(clause, seat, view));
    else found.push({ key, seat, clauses: [does(clause, seat, view)] });
  }
  return found.map(({ seat, clauses }) => (seat < 0 ? clauses[0] : `${subject(seat, view)} ${joined(clauses)}.`));
}

/** Whether a step does no more than make or reject an offer. @param {Row[]|undefined} rows @param {any} about */
export function offering(rows, about) {
  if (rows?.length !== 1) return "";
  const [row] = rows;
  const reply = about.heads.find((/** @type {any} */ head) => head.name === "reply").start;
  return kindOf(row, about) === "offer" ? "offer" : kindOf(row, about) === "chose" && row[2] === reply ? "reject" : "";
}

/** Offers that were all rejected. @param {number} seat @param {number} count @param {any} view */
export const several = (seat, count, view) => `${says(seat, `make ${counted(count, "offer")}`, view)}, all rejected.`;

/** A step with its sentences, and the message that came with it. @param {any} step @param {any} view @param {any} about */
export function told(step, view, about) {
  const { text, promise } = step.said ?? {};
  const name = view.players[step.seat].name;
  return [...(text ? [`${name} says: “${text}”`] : []), ...(promise ? [`${name} promises: ${promise}.`] : []), ...sentences(step.events, view, about)];
}

/** The kinds of event that one looks for in a whole game. */
const MARKS = /** @type {Record<string, string>} */ ({ complete: "colour_group", auction: "auction", go_to_jail: "jail", bankrupt: "bankruptcy", over: "end" });

/** The events of a whole game that one looks for. @param {{events: Row[][]}} index @param {any} view @param {any} about */
export const marks = (index, view, about) => index.events.flatMap((rows, step) => rows.flatMap((row) => {
  const [kind, accepts] = [MARKS[kindOf(row, about)], kindOf(row, about) === "chose" && row[2] === about.heads.find((/** @type {any} */ head) => head.name === "reply").start + 1];
  return kind || accepts ? [{ frame: step + 1, kind: kind ?? "trade", text: sentences([row], view, about)[0] }] : [];
}));
