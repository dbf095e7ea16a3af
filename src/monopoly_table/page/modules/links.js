/** Whole games and positions as links: the fragment holds all of them, and no server has to know it. */
import { Refused } from "./server.js";

const CUT = "This link is cut or damaged: copy it from its beginning to its end.";

/** @param {Blob} blob @param {any} stream */
const through = (blob, stream) => new Response(blob.stream().pipeThrough(stream)).blob();

/** Bytes as text that may stand in an address. @param {Blob} blob */
async function written(blob) {
  const letters = Array.from(new Uint8Array(await blob.arrayBuffer()), (byte) => String.fromCharCode(byte));
  return btoa(letters.join("")).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** @param {string} text */
function read(text) {
  try {
    return new Blob([Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0))]);
  } catch {
    throw new Refused(CUT);
  }
}

/** The address of this page with something in its fragment. @param {string} name @param {string} text */
const link = (name, text) => `${location.origin}${location.pathname}#${name}=${text}`;

/** @param {any} position as of the editor */
export async function positionLink(position) {
  return link("position", await written(await through(new Blob([JSON.stringify(position)]), new CompressionStream("deflate"))));
}

/** @param {string} text @returns {Promise<any>} */
export async function positionOf(text) {
  try {
    return JSON.parse(await (await through(read(text), new DecompressionStream("deflate"))).text());
  } catch {
    throw new Refused(CUT);
  }
}

/** @param {Blob} file a recorded game */
export const replayLink = async (file) => link("replay", await written(file));

/** The file of a link. @param {string} text */
export const replayOf = (text) => read(text);
