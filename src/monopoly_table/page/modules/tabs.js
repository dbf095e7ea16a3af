/** Tabs, of which one is shown. */
import { html } from "./ui.js";

/** @param {{label: string, tabs: {id: string, title: string, body: () => any}[], open: string, setOpen: (id: string) => void}} props */
export function Tabs({ label, tabs, open, setOpen }) {
  const step = (/** @type {KeyboardEvent} */ event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    const next = tabs[(tabs.findIndex((tab) => tab.id === open) + by + tabs.length) % tabs.length];
    setOpen(next.id);
    document.getElementById(`tab-${next.id}`)?.focus();
    event.preventDefault();
  };
  const shown = tabs.find((tab) => tab.id === open) ?? tabs[0];
  return html`<div class="tabs">
    <div role="tablist" aria-label=${label} onKeyDown=${step}>${tabs.map((tab) => html`<button type="button" role="tab" id=${`tab-${tab.id}`}
      aria-selected=${tab.id === shown.id} aria-controls="tab-body" tabindex=${tab.id === shown.id ? 0 : -1} onClick=${() => setOpen(tab.id)}>${tab.title}</button>`)}</div>
    <div role="tabpanel" id="tab-body" aria-labelledby=${`tab-${shown.id}`} key=${shown.id}>${shown.body()}</div>
  </div>`;
}
