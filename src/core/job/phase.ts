/** The phases of an attempt, taken from its status texts: the beginning of a text names the phase. Pure. */

export interface Phase {
  readonly name: string;
  /** When the phase began, in epoch ms. */
  readonly at: number;
}

/** An attempt with more phases does not use its status texts to name phases. */
export const MAX_PHASES = 30;
const MAX_NAME_LENGTH = 60;

/**
 * Returns the name of the phase: the text up to a colon, otherwise up to the first number. 'pass 1: scene 9 of 25' is
 * in 'pass 1', 'encoding 12 %' in 'encoding'.
 */
export function phaseIn(text: string): string | null {
  const [beforeColon = '', ...rest] = text.split(':');
  const name = (rest.length > 0 ? beforeColon : (/^\D*/.exec(text)?.[0] ?? '')).trim();
  return name === '' ? null : name.slice(0, MAX_NAME_LENGTH);
}

/** Returns the same list if the text begins no phase. */
export function withPhaseOf(phases: readonly Phase[], text: string, at: number): readonly Phase[] {
  const name = phaseIn(text);
  if (name === null || name === phases.at(-1)?.name || phases.length >= MAX_PHASES) return phases;
  return [...phases, { name, at }];
}
