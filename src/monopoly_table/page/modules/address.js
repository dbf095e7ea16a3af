/** Places of the page: the fragment of the address names what is shown. */

/** A refusal of the server; its message is a sentence for people. */
export class Refused extends Error {}

/** The parts of the fragment of the address: the shown page and the token. No browser sends it anywhere. */
export function place() {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

/** The address of another place with the same token. @param {Record<string, any>} parts */
export function address(parts) {
  const { token } = place();
  const known = Object.entries({ token, ...parts }).filter(([, value]) => value !== undefined && value !== null);
  return "#" + new URLSearchParams(known.map(([name, value]) => [name, String(value)]));
}

/** @param {Record<string, any>} parts */
export function go(parts) {
  location.hash = address(parts);
}
