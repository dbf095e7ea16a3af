/**
 * The shapes of docs/protocol.md, for editors and `tsc --checkJs`. There is no code here.
 *
 * @typedef {{lots: number[], cards: string[], dollars: number}} Goods
 * @typedef {{from: number, to: number, give: Goods, ask: Goods, counter: boolean}} Offer
 * @typedef {{lot: number|null, name: string, bid: number, leader: number|null, bidders: number[], sealed: boolean, most: number, written: number}} Auction
 * @typedef {{action: number, kind: string, index: number, text: string, lot: number|null, square: number|null, dollars: number|null, to: number|null}} Action
 * @typedef {{kind: string, square: number|null, text: string}} Refusal
 * @typedef {{seat: number, letter: string, name: string, kind: string, policy: string|null, connected: boolean, colour: string, cash: number,
 *   worth: number, raisable: number, square: number, where: string, jail: number|null, jail_cards: string[], lots: number[], place: number, out: boolean}} Player
 * @typedef {{lot: number, name: string, square: number, group: number, owner: number|null, level: number, mortgaged: boolean, rent: number|null}} Lot
 * @typedef {{seat: number, decision: string, when: string|null, numbers: number[], text: string}} Question
 * @typedef {{legal: number[], cash: number[], lots: number[], sealed: number[], mortgaged: number, pot: number, turns: number, rounds: number, auction_bid: number,
 *   offer_ask: number, offer_give: number, offer_cash: number, num_players: number, turn: number, decision: number, player: number, dice: number[], houses: number,
 *   hotels: number, position: number[], jail: number[], jail_cards: number[], place: number[], level: number[], auction_lot: number, auction_leader: number,
 *   auction_bidders: number, offer_from: number, offer_to: number, offer_counter: number, ending: number}} Record
 * @typedef {{cost: number[], reason: number[], rent: number[], worth: number[], raisable: number[], question: number[], bid_base: number, bid_limit: number}} Derived
 * @typedef {{game?: string, version: number, digest: string, record: Record, derived: Derived, rules: {board: string, changed: Object<string, any>},
 *   players: {name: string, kind: string, policy: string|null, connected: boolean}[], you: number[], undo: boolean, speed: number, paused: boolean,
 *   stalled: {seat: number, error: string}|null, chosen: number|null}} Frame
 * @typedef {{game?: string, version: number, digest: string, record: Record, derived: Derived, turn: number, round: number, on_turn: number, dice: number[],
 *   rules: {board: string, changed: Object<string, any>}, players: Player[], lots: Lot[], bank: {houses: number, hotels: number, pot: number},
 *   question: Question|null, actions: Action[], refusals: Refusal[], offer: Offer|null, auction: Auction|null, over: boolean,
 *   ending: string|null, winners: number[], you: number[], undo: boolean, may_offer: number[], speed: number, paused: boolean,
 *   stalled: {seat: number, error: string}|null, chosen: number|null}} View
 * @typedef {{version: number, seat: number, action: number|null, events: number[][], digest: string, turn: number, said?: {text?: string, promise?: string}}} Step
 * @typedef {{action: number, playouts: number, share: number, low: number, high: number, shares: number[],
 *   difference: number, difference_low: number, difference_high: number}} Candidate
 * @typedef {{seat: number, share: number, low: number, high: number}} Share
 * @typedef {{square: number, name: string, kind: string, lot: number|null, group: number|null, price: number|null, mortgage: number|null,
 *   house_price: number|null, rent: number[]|null}} Square
 * @typedef {{name: string, rule: string, doc: string, default: any, range?: number[], choices?: string[]}} Option
 * @typedef {{version: string, ready: boolean, host: boolean, local?: boolean, origin: string|null,
 *   rules: {presets: Object<string, Object<string, any>>, options: Option[]},
 *   offer_reasons: string[], heads: {name: string, start: number}[], notes: number[], decisions: string[], windows: string[], endings: string[], events: Object<string, string[]>, reasons: string[],
 *   policies: {name: string, plays_on: boolean}[], colours: string[], letters: string[],
 *   groups: {name: string, colour: string, lots: number[]}[], boards: Object<string, Square[]>,
 *   cards: Object<string, Object<string, string[]>>,
 *   limits: {upload: number, players: number[], speed: number[]}}} About
 * @typedef {{watch: string, seats: {seat: number, token: string, taken: boolean}[]}|null} Links
 * @typedef {{frame: Frame, log: Step[], fresh: Step[]}} State
 * @typedef {{version: number, turn: number, shares: number[], low?: number[], high?: number[]}} Point
 */
export {};
