/** The two vendored libraries in the form that all components use. */
import { h, render } from "../vendor/preact.js";
import htm from "../vendor/htm.js";

export { render };
export { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../vendor/hooks.js";

/** Markup as tagged templates: html`<p>${text}</p>`. Text is always escaped. */
export const html = htm.bind(h);
