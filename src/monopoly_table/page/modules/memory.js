/** Choices that this browser keeps from visit to visit, if it allows it. */

/** @param {string} name @param {any} usual the value before any choice */
export function recall(name, usual) {
  try {
    return JSON.parse(localStorage.getItem(`monopoly-env ${name}`) ?? "null") ?? usual;
  } catch {
    return usual;
  }
}

/** @param {string} name @param {any} value */
export function remember(name, value) {
  try {
    localStorage.setItem(`monopoly-env ${name}`, JSON.stringify(value));
  } catch {
    // a browser that forbids storage, or a full one: the choice is forgotten
  }
}
