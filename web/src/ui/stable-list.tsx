/** Keeps the order of a list while the pointer is over it, and shows how many new rows wait. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { stableRows } from './stable-rows.ts';

interface StableListProps<T> {
  readonly rows: readonly T[];
  /** Identifies the list; rows of another list are not held. */
  readonly of: string;
  keyOf(row: T): string;
  children(rows: readonly T[]): ComponentChildren;
}

export function StableList<T>({ rows: fresh, of, keyOf, children }: StableListProps<T>) {
  const [held, hold] = useState<{ readonly of: string; readonly rows: readonly T[] } | null>(null);
  const { rows, waiting } = stableRows(fresh, held?.of === of ? held.rows : null, keyOf);
  return (
    // Touch needs no stable order: only a mouse pointer rests over a row.
    <div
      onPointerEnter={(event) => event.pointerType === 'mouse' && hold({ of, rows })}
      onPointerLeave={() => hold(null)}
    >
      {children(rows)}
      <p role="status" class="mt-1 text-sm text-soft">
        {waiting > 0 && `${waiting} new: shown when the pointer leaves the list`}
      </p>
    </div>
  );
}
