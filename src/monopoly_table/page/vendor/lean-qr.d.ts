/** What the page uses of lean-qr. */
export function generate(text: string): { size: number; get(x: number, y: number): boolean };
