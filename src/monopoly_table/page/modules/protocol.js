/**
 * The shapes of docs/protocol.md, for editors and `tsc --checkJs`. There is no code here.
 *
 * @typedef {{lots: number[], cards: string[], dollars: number}} Goods
 * @typedef {{from: number, to: number, give: Goods, ask: Goods, counter: boolean}} Offer
 * @typedef {{lot: number|null, name: string, bid: number, leader: number|null, bidders: number[], sealed: boolean, most: number}} Auction
 * @typedef {{action: number, kind: string, text: string, lot: number|null, square: number|null, dollars: number|null, to: number|null}} Action
 * @typedef {{kind: string, square: number|null, text: string}} Refusal
 * @typedef {{seat: number, letter: string, name: string, kind: string, policy: string|null, connected: boolean, colour: string, cash: number,
 *   worth: number, square: number, where: string, jail: number|null, jail_cards: string[], lots: number[], place: number, out: boolean}} Player
 * @typedef {{lot: number, name: string, square: number, group: number, owner: number|null, level: number, mortgaged: boolean, rent: number|null}} Lot
 * @typedef {{seat: number, decision: string, text: string, subject: string}} Question
 * @typedef {{game: string|null, version: number, digest: string, turn: number, round: number, on_turn: number, dice: number[],
 *   rules: {board: string, changed: Record<string, any>}, players: Player[], lots: Lot[], bank: {houses: number, hotels: number, pot: number},
 *   question: Question|null, actions: Action[], refusals: Refusal[], offer: Offer|null, auction: Auction|null, over: boolean,
 *   ending: string|null, winners: number[], you: number[], undo: boolean, may_offer: number[], speed: number, paused: boolean,
 *   stalled: {seat: number, error: string}|null, chosen: Action|number|null}} View
 * @typedef {{version: number, seat: number, action: number|null, text: string, sentences: string[], digest: string, turn: number}} Step
 * @typedef {{action: number, text: string, playouts: number, share: number, low: number, high: number, shares: number[],
 *   difference: number, difference_low: number, difference_high: number}} Candidate
 * @typedef {{seat: number, share: number, low: number, high: number}} Share
 * @typedef {{square: number, name: string, kind: string, lot: number|null, group: number|null, price: number|null, mortgage: number|null,
 *   house_price: number|null, rent: number[]|null}} Square
 * @typedef {{name: string, rule: string, doc: string, default: any, range?: number[], choices?: string[]}} Option
 * @typedef {{version: string, ready: boolean, host: boolean, origin: string|null,
 *   rules: {presets: Record<string, Record<string, any>>, options: Option[]},
 *   policies: {name: string, plays_on: boolean}[], colours: string[], letters: string[],
 *   groups: {name: string, colour: string, lots: number[]}[], boards: Record<string, Square[]>,
 *   cards: Record<string, Record<string, {id: string, label: string}[]>>,
 *   limits: {upload: number, players: number[], speed: number[]}}} About
 * @typedef {{watch: string, seats: {seat: number, token: string, taken: boolean}[]}|null} Links
 * @typedef {{view: View, board: string, log: Step[], links?: Links}} State
 * @typedef {{version: number, turn: number, shares: number[], low?: number[], high?: number[]}} Point
 */
export {};
