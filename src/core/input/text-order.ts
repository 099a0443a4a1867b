/** The one order of texts: by their code units, which every store and every machine has alike. Never by a locale. */
export function byText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
