/** What the page uses of Preact. */
export function h(...parts: any[]): any;
export function render(node: any, into: Element): void;
