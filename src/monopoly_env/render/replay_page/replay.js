"use strict";
// Goes through a game step by step. What the data are is said in monopoly_env/render/page.py.

/** The data of the page: JSON, compressed, in base 64. */
async function load() {
  const bytes = Uint8Array.from(atob(document.getElementById("data").textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

function start({ parts, contents, steps }) {
  const $ = (id) => document.getElementById(id);
  const last = steps.length - 1;
  const shown = new Map(); // part -> number of its content
  let now = -1;
  let timer = 0;

  /** The content of every part at a step: the latest one that was set up to it. */
  function contentsAt(step) {
    const found = new Map();
    for (let k = 0; k <= step; k++) {
      const changes = steps[k][2];
      for (let i = 0; i < changes.length; i += 2) found.set(changes[i], changes[i + 1]);
    }
    return found;
  }

  /** Draw the parts that differ, and frame the squares among them if the game went one step on. */
  function draw(step) {
    for (const part of document.querySelectorAll(".changed")) part.classList.remove("changed");
    for (const [part, content] of contentsAt(step)) {
      if (shown.get(part) === content) continue;
      shown.set(part, content);
      const element = $(parts[part]);
      element.innerHTML = contents[content];
      if (step === now + 1 && parts[part].startsWith("square-")) element.classList.add("changed");
    }
  }

  function show(step) {
    step = Math.max(0, Math.min(last, step));
    if (step === now) return;
    draw(step);
    now = step;
    const [turn, sentences] = steps[step];
    $("told").textContent = sentences.join("\n");
    $("slider").value = step;
    $("slider").setAttribute("aria-valuetext", `step ${step} of ${last}, turn ${turn}`);
    if (document.activeElement !== $("turn-number")) $("turn-number").value = turn;
    for (const seat of $("legend").children) {
      const title = $(seat.id.replace("seat", "player")).querySelector("title");
      seat.lastElementChild.textContent = title.textContent.replace(/^player .: /, "");
    }
    mark(step);
  }

  /** Mark the entry of a step in the log, and bring it into view without moving the page. */
  function mark(step) {
    const log = $("log");
    [...log.children].forEach((entry, number) => {
      entry.firstChild.classList.toggle("later", number > step);
      entry.firstChild.removeAttribute("aria-current");
    });
    const entry = log.children[step];
    entry.firstChild.setAttribute("aria-current", "step");
    const above = entry.offsetTop < log.scrollTop;
    const below = entry.offsetTop + entry.offsetHeight > log.scrollTop + log.clientHeight;
    if (above || below) log.scrollTop = entry.offsetTop - log.clientHeight / 2;
  }

  /** The first step of a turn, or of the nearest one. */
  function stepOfTurn(turn) {
    const found = steps.findIndex((step) => step[0] >= turn);
    return found < 0 ? last : found;
  }

  const turnBefore = () => stepOfTurn(now > stepOfTurn(steps[now][0]) ? steps[now][0] : steps[now][0] - 1);

  function pause() {
    clearInterval(timer);
    timer = 0;
    $("play").textContent = "▶\ufe0e";
    $("play").setAttribute("aria-label", "Play");
  }

  function play() {
    if (timer) return pause();
    if (now === last) show(0);
    $("play").textContent = "❚❚";
    $("play").setAttribute("aria-label", "Pause");
    timer = setInterval(() => (now < last ? show(now + 1) : pause()), Number($("speed").value));
  }

  const moves = {
    first: () => 0,
    "back-turn": turnBefore,
    back: () => now - 1,
    forward: () => now + 1,
    "forward-turn": () => stepOfTurn(steps[now][0] + 1),
    last: () => last,
  };
  const keys = { Home: "first", PageUp: "back-turn", ArrowLeft: "back", ArrowRight: "forward", PageDown: "forward-turn", End: "last" };

  function move(name) {
    pause();
    show(moves[name]());
  }

  for (const name of Object.keys(moves)) $(name).addEventListener("click", () => move(name));
  $("play").addEventListener("click", play);
  $("slider").addEventListener("input", (event) => {
    pause();
    show(Number(event.target.value));
  });
  $("turn-number").addEventListener("change", (event) => {
    pause();
    show(stepOfTurn(Number(event.target.value)));
  });
  $("speed").addEventListener("change", () => {
    if (timer) {
      pause();
      play();
    }
  });
  $("board").addEventListener("click", (event) => {
    const title = event.target.closest("[role=img]")?.querySelector("title");
    if (title) $("about").textContent = title.textContent;
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input[type=number], select")) return;
    if (event.key in keys) move(keys[event.key]);
    else if (event.key === " " && !event.target.matches("button")) play();
    else if (event.key === "t") $("turn-number").select();
    else return;
    event.preventDefault();
  });

  steps.forEach(([, sentences], number) => {
    const entry = document.createElement("li");
    const button = document.createElement("button");
    button.tabIndex = -1; // the log is scrolled as a whole; the arrow keys go through it
    button.textContent = sentences.join("\n");
    button.addEventListener("click", () => {
      pause();
      show(number);
    });
    entry.append(button);
    $("log").append(entry);
  });
  addEventListener("resize", () => mark(now));
  $("slider").max = last;
  $("turn-number").max = steps[last][0];
  show(0);
}

load().then(start);
