/** States as tabs and filters as fields. All of it stands in the address. */

import type { QueueView } from '../../../src/wire/views.ts';
import { setQuery, usePlace } from '../data/address.ts';

export const FILTERS = ['state', 'label', 'tag', 'name', 'worker', 'group', 'since', 'before'] as const;
export type Filters = Partial<Record<(typeof FILTERS)[number], string>>;

export function useFilters(): Filters {
  const { query } = usePlace();
  const given = FILTERS.flatMap((name) => {
    const value = query.get(name);
    return value === null || value === '' ? [] : [[name, value]];
  });
  return Object.fromEntries(given) as Filters;
}

const STATES = ['waiting', 'running', 'failed', 'done', 'cancelled', 'draft'] as const;

export function StateTabs({ counts }: { counts: QueueView['counts'] | undefined }) {
  const { state } = useFilters();
  const tab = (word: string | null, count: number | undefined) => {
    const isHere = (state ?? null) === word;
    return (
      <button
        key={word ?? 'all'}
        type="button"
        aria-pressed={isHere}
        class={`rounded-md px-2.5 py-1 font-medium ${isHere ? 'bg-raised text-ink' : 'text-soft hover:text-ink'}`}
        onClick={() => setQuery({ state: word, label: null, after: null })}
      >
        {word ?? 'all'}{' '}
        {count !== undefined && <span class="numbers text-xs text-soft">{count.toLocaleString('en')}</span>}
      </button>
    );
  };
  return (
    <div class="flex flex-wrap gap-1">
      {tab(null, undefined)}
      {STATES.map((word) => tab(word, counts?.[word]))}
    </div>
  );
}

const FIELDS = ['tag', 'name', 'worker', 'group'] as const;

export function FilterFields() {
  const filters = useFilters();
  return (
    <div class="flex flex-wrap items-center gap-2">
      {FIELDS.map((field) => (
        <input
          key={field}
          type="text"
          aria-label={`only of ${field}`}
          placeholder={field}
          class="w-32 rounded-md border border-line bg-sheet px-2 py-1"
          value={filters[field] ?? ''}
          onChange={(event) => setQuery({ [field]: event.currentTarget.value.trim(), after: null })}
        />
      ))}
    </div>
  );
}
