/** A game between four policies that plays itself, with its winning chances by playouts. */
import { estimate, load } from "./monopoly.js";

const SEATS = ["expert/bargaining", "expert", "algorithmic", "random"];
const PLAYOUTS = 60; // after each turn
const PAUSE = 400; // milliseconds
const form = document.querySelector("form"), body = document.querySelector("tbody");
const status = document.querySelector("#status");
const percent = (share) => `${(100 * share).toFixed(0)}%`;

let monopoly, game, paused = false, started = 0;

function rows(chances) {
  const record = game.observe(), worth = game.worth(), names = monopoly.manifest.squares[record.rules.board];
  body.replaceChildren(...SEATS.map((name, seat) => {
    const row = document.createElement("tr"), bankrupt = record.place[seat] > 1;
    const cells = [
      name, bankrupt ? "out of the game" : names[record.position[seat]],
      `$${record.cash[seat].toLocaleString("en")}`, `$${worth[seat].toLocaleString("en")}`, "",
    ];
    cells.forEach((text, i) => {
      const cell = row.appendChild(document.createElement(i ? "td" : "th"));
      cell.textContent = text;
      if (i === 2 || i === 3) cell.className = "number";
    });
    const bar = document.createElement("meter"), { share, low, high } = chances;
    bar.value = share[seat];
    row.lastChild.append(bar, ` ${percent(share[seat])} (${percent(low[seat])} to ${percent(high[seat])})`);
    return row;
  }));
}

function step() {
  const turn = game.field("turns");
  while (!game.over && game.field("turns") === turn) game.play(1);
  const winners = game.field("place").slice(0, SEATS.length).map((place) => Number(place === 1));
  const began = performance.now();
  const chances = game.over ? { share: winners, low: winners, high: winners }
    : estimate([game.rollout({ policies: SEATS, n: PLAYOUTS, seed: turn })]);
  rows(chances);
  status.textContent = game.over
    ? `The game is over after ${game.field("turns")} turns and ${game.state.actions.length} decisions.`
    : `Turn ${game.field("turns")}: ${PLAYOUTS} playouts in ${(performance.now() - began).toFixed(0)} ms.`;
}

async function run() {
  const mine = ++started;
  while (mine === started && !game.over) {
    if (!paused) step();
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
}

function begin(event) {
  event?.preventDefault();
  try {
    game = monopoly.newGame({ players: SEATS.length, rules: form.rules.value, seed: Number(form.seed.value), seats: SEATS });
    run();
  } catch (error) {
    status.textContent = error.message;
  }
}

form.addEventListener("submit", begin);
form.pause.addEventListener("click", () => {
  paused = !paused;
  form.pause.setAttribute("aria-pressed", String(paused));
});
try {
  monopoly = await load();
  form.rules.append(...monopoly.presets.map((name) => new Option(name)));
  begin();
} catch (error) {
  status.textContent = typeof WebAssembly === "undefined" ? "This page needs a browser with WebAssembly." : error.message;
}
