/** The phases of an attempt, as its own words tell them: what a status text begins with names the phase it is in. Pure. */

export interface Phase {
  readonly name: string;
  /** Since when, in epoch ms. */
  readonly at: number;
}

/** Of more an attempt is no longer in phases, it only talks. */
export const MOST_PHASES = 30;
const LONGEST = 60;

/** Up to a colon, else up to the first number: 'pass 1: scene 9 of 25' is in 'pass 1', 'encoding 12 %' in 'encoding'. */
export function phaseIn(words: string): string | null {
  const [beforeColon = '', ...rest] = words.split(':');
  const name = (rest.length > 0 ? beforeColon : (/^\D*/.exec(words)?.[0] ?? '')).trim();
  return name === '' ? null : name.slice(0, LONGEST);
}

/** The same list when these words begin no phase. */
export function withWords(phases: readonly Phase[], words: string, at: number): readonly Phase[] {
  const name = phaseIn(words);
  if (name === null || name === phases.at(-1)?.name || phases.length >= MOST_PHASES) return phases;
  return [...phases, { name, at }];
}
