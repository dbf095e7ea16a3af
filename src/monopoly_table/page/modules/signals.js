/** Signals of a running game: tones and notifications, off until somebody switches them on in this browser. */
import { html, useEffect, useState } from "./ui.js";
import { recall, remember } from "./memory.js";
import { kindOf } from "./words.js";

/** Notes of each tone, in hertz. @type {Record<string, number[]>} */
const TONES = { dice: [196, 262, 220], got: [659, 880], paid: [440, 330], turn: [523, 659, 784] };
const NOTE = 0.12; // seconds

/** @type {AudioContext|undefined} */
let audio;

/** @param {string[]} names of tones, one after the other */
function play(names) {
  const speaker = (audio ??= new AudioContext());
  speaker.resume(); // it may have been made before the first click
  for (const [number, frequency] of names.flatMap((name) => TONES[name]).entries()) {
    const [start, note, volume] = [speaker.currentTime + NOTE * number, speaker.createOscillator(), speaker.createGain()];
    note.type = "triangle";
    note.frequency.value = frequency;
    volume.gain.setValueAtTime(0.15, start);
    volume.gain.exponentialRampToValueAtTime(0.001, start + NOTE);
    note.connect(volume).connect(speaker.destination);
    note.start(start);
    note.stop(start + NOTE);
  }
}

/**
 * The tones of some steps.
 * @param {import("./protocol.js").Step[]} steps @param {boolean} turn whether one's own turn begins
 * @param {import("./protocol.js").View} view @param {import("./protocol.js").About} about
 */
export function tones(steps, turn, view, about) {
  const rows = steps.flatMap((step) => step.events);
  const has = (/** @type {string} */ kind, /** @type {number} */ column) => rows.some((row) => kindOf(row, about) === kind && (!column || view.you.includes(row[column])));
  const heard = { dice: has("throw", 0), got: has("receive", 1) || has("pay", 3), paid: has("pay", 1), turn };
  return Object.entries(heard).flatMap(([name, on]) => (on ? [name] : []));
}

/** Give the signals of the latest steps. @param {any} state @param {import("./protocol.js").View} view @param {import("./protocol.js").About} about @param {boolean} mine */
export function useSignals({ fresh }, view, about, mine) {
  useEffect(() => {
    const turn = mine && fresh.some((/** @type {import("./protocol.js").Step} */ step) => !view.you.includes(step.seat));
    if (recall("sound", false)) play(tones(fresh, turn, view, about));
    if (turn && document.hidden && recall("notify", false)) notify(view);
  }, [view.version]);
}

/** @param {import("./protocol.js").View} view */
function notify(view) {
  try {
    const shown = new Notification("Your turn", { body: view.question?.text, tag: view.game, icon: "icon.svg" });
    shown.onclick = () => {
      window.focus();
      shown.close();
    };
  } catch {
    // a phone: its notifications need a service worker
  }
}

/** Ask for the right to notify. @returns {Promise<boolean>} */
const allowed = async () => "Notification" in window && (await Notification.requestPermission()) === "granted";

/** The switches. */
export function Signals() {
  const [sound, setSound] = useState(recall("sound", false));
  const [notified, setNotified] = useState(recall("notify", false));
  const [error, setError] = useState("");
  const hear = (/** @type {any} */ { target: { checked } }) => {
    setSound(checked);
    remember("sound", checked);
    if (checked) play(["turn"]);
  };
  const see = async (/** @type {any} */ { target: { checked } }) => {
    const on = checked && (await allowed());
    setNotified(on);
    remember("notify", on);
    setError(checked && !on ? "This browser does not allow notifications here." : "");
  };
  return html`<p><label><input type="checkbox" data-sound checked=${sound} onChange=${hear} /> Sounds for dice, money and my turn</label><br />
    <label><input type="checkbox" data-notify checked=${notified} onChange=${see} /> Notify me of my turn while this page is hidden</label></p>
    <p class="error" role="status">${error}</p>`;
}
