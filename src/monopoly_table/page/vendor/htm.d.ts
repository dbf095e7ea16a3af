/** What the page uses of htm. */
declare const htm: { bind(h: (...parts: any[]) => any): (strings: TemplateStringsArray, ...values: any[]) => any };
export default htm;
