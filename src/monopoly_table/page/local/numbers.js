/** Intervals of 95%, as `monopoly_env.intervals` has them. */
import { NORMAL_95 } from "../../../monopoly_env/browser/monopoly.js";

/** @param {ArrayLike<number>} values */
export function mean(values) {
  let total = 0;
  for (let at = 0; at < values.length; at++) total += values[at];
  return total / values.length;
}

/** Mean of independent values, and the bounds of its interval. @param {ArrayLike<number>} values @returns {[number, number, number]} */
export function meanInterval(values) {
  const centre = mean(values), count = values.length;
  let squares = 0;
  for (let at = 0; at < count; at++) squares += (values[at] - centre) ** 2;
  const half = count > 1 ? NORMAL_95 * Math.sqrt(squares / (count - 1) / count) : 0;
  return [centre, centre - half, centre + half];
}

/** Mean of paired differences of shares, with a lead to each side added to its interval. @param {number[]} leads @returns {[number, number, number]} */
export function leadInterval(leads) {
  const centre = mean(leads), [, low, high] = meanInterval([...leads, 1, -1]);
  return [centre, Math.min(centre, Math.max(-1, low)), Math.max(centre, Math.min(1, high))];
}
