/** Holds a list still while the pointer is over it, and says how many rows wait for it to leave. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { stillRows } from './still-rows.ts';

interface StillProps<T> {
  readonly rows: readonly T[];
  /** Another list is another one, held or not. */
  readonly of: string;
  keyOf(row: T): string;
  children(rows: readonly T[]): ComponentChildren;
}

export function Still<T>({ rows: fresh, of, keyOf, children }: StillProps<T>) {
  const [held, hold] = useState<{ readonly of: string; readonly rows: readonly T[] } | null>(null);
  const { rows, waiting } = stillRows(fresh, held?.of === of ? held.rows : null, keyOf);
  return (
    // A touch is over at once: only a pointer that stays can have a row move away under it.
    <div
      onPointerEnter={(event) => event.pointerType === 'mouse' && hold({ of, rows })}
      onPointerLeave={() => hold(null)}
    >
      {children(rows)}
      <p role="status" class="mt-1 text-sm text-soft">
        {waiting > 0 && `${waiting} more: shown when the pointer leaves the list`}
      </p>
    </div>
  );
}
