/**
 * The Mover port over shelves: what memory does at once and sqlite does in its thread. Here is the one rule of a move:
 * nothing is written or cleared but in the target of that very move, while it is under way.
 */
import type { GivenNumbers, MovedBatch, MovedPage, MovedPart, MovedRow, Mover, Standing } from '../moving.ts';
import { notInMove } from '../moving.ts';
import { sameJson } from '../same-json.ts';

/** What a store that can answer at once has to have for it. It finds and keeps, and decides nothing. */
export interface Shelves {
  standing(): Standing | null;
  setStanding(standing: Standing | null, now: number): void;
  numbers(): GivenNumbers;
  raise(numbers: GivenNumbers): void;
  page(part: MovedPart, after: string | null, limit: number): MovedPage;
  put(part: MovedPart, row: MovedRow, now: number): void;
  removeRecord(key: string): void;
  clear(): void;
}

export type MoverCall = keyof Mover;

export function performMove(
  shelves: Shelves,
  { name, argument }: { name: MoverCall; argument: unknown },
  now: number,
): unknown {
  switch (name) {
    case 'standing':
      return shelves.standing();
    case 'stand':
      return stand(shelves, argument as { next: Standing | null; before: Standing | null }, now);
    case 'numbers':
      return shelves.numbers();
    case 'read': {
      const { part, after, limit } = argument as { part: MovedPart; after: string | null; limit: number };
      return shelves.page(part, after, limit);
    }
    case 'write':
      return write(shelves, argument as MovedBatch, now);
    case 'clear':
      return clear(shelves, argument as string);
  }
}

export const isMoverLook = (name: MoverCall): boolean => name === 'standing' || name === 'numbers' || name === 'read';

function stand(shelves: Shelves, { next, before }: { next: Standing | null; before: Standing | null }, now: number) {
  if (!sameJson(shelves.standing(), before)) return false;
  shelves.setStanding(next, now);
  return true;
}

function write(shelves: Shelves, { move, part, rows, gone, numbers, done }: MovedBatch, now: number): void {
  const standing = standingIn(shelves, move, ['target', 'import']);
  shelves.raise(numbers);
  for (const key of gone) shelves.removeRecord(key);
  for (const row of rows) shelves.put(part, row, now);
  if (done !== null) shelves.setStanding({ ...standing, done }, now);
}

function clear(shelves: Shelves, move: string): void {
  standingIn(shelves, move, ['target']);
  shelves.clear();
}

function standingIn(shelves: Shelves, move: string, roles: readonly Standing['role'][]): Standing {
  const standing = shelves.standing();
  const isRight = standing?.move === move && roles.includes(standing.role) && standing.state === 'moving';
  if (!isRight) throw notInMove(move);
  return standing;
}
