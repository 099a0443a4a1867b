/** Orders texts by their code units, which is the same in every store and on every machine. Never by a locale. */
export function byText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
