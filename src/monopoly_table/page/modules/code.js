/** A link as a QR code, for the camera of a phone. */
import { generate } from "../vendor/lean-qr.js";
import { html } from "./ui.js";

const QUIET = 4; // modules around a code that stay empty

/** @param {{text: string, label: string}} props */
export function Code({ text, label }) {
  const code = generate(text);
  const modules = Array.from({ length: code.size ** 2 }, (_, number) => [number % code.size, Math.floor(number / code.size)]);
  const dark = modules.filter(([x, y]) => code.get(x, y)).map(([x, y]) => `M${x} ${y}h1v1h-1z`);
  const side = code.size + 2 * QUIET;
  return html`<svg class="code" viewBox="${-QUIET} ${-QUIET} ${side} ${side}" role="img" aria-label=${label} shape-rendering="crispEdges">
    <rect x=${-QUIET} y=${-QUIET} width=${side} height=${side} fill="#ffffff" /><path d=${dark.join("")} fill="#000000" /></svg>`;
}
