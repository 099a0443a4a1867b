/**
 * Notes in an attempt's record when its words name another phase. A node that takes the attempt up goes on from what is
 * there; hearing the same words again changes nothing.
 */
import type { Phase } from '../../core/job/phase.ts';
import { withWords } from '../../core/job/phase.ts';
import type { SaidBatch } from '../../runner/protocol/report-reader.ts';
import { notePhases, readAttemptRecord } from '../attempts/attempt-record.ts';

export class SpokenPhases {
  readonly #folder: string;
  /** Null until something was said: most scripts say nothing. */
  #phases: readonly Phase[] | null = null;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async hear({ heard }: SaidBatch): Promise<void> {
    const words = heard.flatMap(({ verb }) => (verb.kind === 'run' || verb.kind === 'progress' ? [verb.text] : []));
    if (words.length === 0) return;
    const before = this.#phases ?? (await readAttemptRecord(this.#folder))?.phases ?? [];
    const now = Date.now();
    this.#phases = words.reduce((phases, each) => withWords(phases, each, now), before);
    if (this.#phases !== before) notePhases(this.#folder, this.#phases);
  }
}
