/** Recorded answers with the documented differences of a compat layer applied. */
import type { Recording } from './recordings.ts';

/** By the line of the recording: what the compat layer answers instead, and why. */
export type Differences = Readonly<Record<string, { readonly answers: unknown; readonly because: string }>>;

/** Throws for a difference that names no line, or that is none. */
export function withDifferences(recording: Recording, differences: Differences): Recording {
  for (const [line, { answers }] of Object.entries(differences)) {
    if (!(line in recording)) throw new Error(`no line of the recording is ${line}`);
    if (JSON.stringify(recording[line]) === JSON.stringify(answers))
      throw new Error(`${line} is no difference any more`);
  }
  const changed = Object.entries(differences).map(([line, { answers }]) => [line, answers] as const);
  return { ...recording, ...Object.fromEntries(changed) };
}
