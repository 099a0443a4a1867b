/**
 * Enforces the memory limits of attempts whose control group does not: measures their process trees twice a second.
 *
 * Resident memory counts a page that processes share once for each of them. A tree above its limit by that sum is
 * measured again by its proportional shares, and these decide. A process whose shares may not be read counts as resident.
 */
import { type Member, membersOfEach, type TrackedAttempt } from '../process-tree/membership.ts';
import { readProc } from '../process-tree/process-stat.ts';
import { takeSurvey } from '../process-tree/process-survey.ts';

export const MEMORY_CHECK_MS = 500;

export interface LimitedAttempt extends TrackedAttempt {
  /** Bytes that its processes may use together; null when nothing has to be watched. */
  readonly watchedMemoryBytes: number | null;
  /** Ends the attempt: its processes use more than their limit. */
  exceedMemory(usedBytes: number): void;
}

export class MemoryWatch {
  readonly #pageBytes: number;
  readonly #onTrouble: (what: string, error: unknown) => void;
  #isChecking = false;

  constructor(pageBytes: number, onTrouble: (what: string, error: unknown) => void) {
    this.#pageBytes = pageBytes;
    this.#onTrouble = onTrouble;
  }

  /** Measures the attempts that have a limit. A check that is still under way makes this one superfluous. */
  async check(attempts: readonly LimitedAttempt[]): Promise<void> {
    const limited = attempts.filter(({ watchedMemoryBytes }) => watchedMemoryBytes !== null);
    if (this.#isChecking || limited.length === 0) return;
    this.#isChecking = true;
    try {
      const { all } = await takeSurvey();
      for (const [attempt, members] of membersOfEach(all, limited)) this.#enforce(attempt, members);
    } catch (error) {
      this.#onTrouble('measuring the memory of attempts', error);
    } finally {
      this.#isChecking = false;
    }
  }

  #enforce(attempt: LimitedAttempt, members: readonly Member[]): void {
    const limit = attempt.watchedMemoryBytes;
    if (limit === null || this.#residentBytes(members) <= limit) return;
    const usedBytes = members.reduce((sum, each) => sum + this.#usedBytes(each), 0);
    if (usedBytes > limit) attempt.exceedMemory(usedBytes);
  }

  #residentBytes(members: readonly Member[]): number {
    return members.reduce((sum, { rssPages }) => sum + rssPages * this.#pageBytes, 0);
  }

  #usedBytes({ pid, rssPages }: Member): number {
    return proportionalBytes(readProc(`/proc/${pid}/smaps_rollup`) ?? '') ?? rssPages * this.#pageBytes;
  }
}

/** Returns the proportional share in the text of smaps_rollup, in bytes; null when it has none. */
export function proportionalBytes(text: string): number | null {
  const kilobytes = /^Pss:\s+(\d+) kB/m.exec(text)?.[1];
  return kilobytes === undefined ? null : Number(kilobytes) * 1024;
}
