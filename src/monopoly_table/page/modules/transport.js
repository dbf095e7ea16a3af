/** The way to whoever keeps the games: here a server. In a page without one, `local/transport.js` stands in for this file. */

/** Ask for a path below /api, as `fetch` does. @param {string} path @param {RequestInit} options @returns {Promise<Response>} */
export const request = (path, options) => fetch(`/api${path}`, options);

/** Open a socket. @param {string} path below /api @returns {WebSocket} */
export const connect = (path) => new WebSocket(`${location.origin.replace(/^http/, "ws")}/api${path}`);
