/** State tabs and filter fields. The URL holds all of them. */

import { useEffect, useState } from 'preact/hooks';
import { localIso } from '../../../src/wire/spans.ts';
import type { QueueView } from '../../../src/wire/views.ts';
import { setQuery, useLocation } from '../data/location.ts';

export const FILTERS = ['state', 'label', 'text', 'tag', 'name', 'worker', 'group', 'since', 'before'] as const;
export type Filters = Partial<Record<(typeof FILTERS)[number], string>>;

export function useFilters(): Filters {
  const { query } = useLocation();
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
const TIMES = [
  ['since', 'added after'],
  ['before', 'added before'],
] as const;
const FIELD_CLASS = 'w-full rounded-md border border-line bg-sheet px-2 py-1';
const NO_FILTERS = Object.fromEntries(FILTERS.map((name) => [name, null]));

export const clearFilters = (): void => setQuery({ ...NO_FILTERS, after: null });

export function FilterFields() {
  const filters = useFilters();
  const set = (name: string, value: string) => setQuery({ [name]: value, after: null });
  const textField = (field: 'text' | (typeof FIELDS)[number], className: string) => (
    <FilterField
      key={field}
      type="text"
      label={`filter by ${field}`}
      placeholder={field === 'text' ? 'Filter by text' : field}
      className={className}
      value={filters[field] ?? ''}
      set={(value) => set(field, value.trim())}
    />
  );
  const isSet = [...FIELDS, 'since' as const, 'before' as const].some((name) => filters[name] !== undefined);
  const [isOpened, setOpened] = useState(isSet);
  return (
    <search aria-label="Filters" class="flex flex-wrap items-start gap-2">
      {textField('text', 'sm:w-56')}
      <details
        class="min-w-0 max-sm:w-full"
        open={isOpened || isSet}
        onToggle={(event) => setOpened(event.currentTarget.open)}
      >
        <summary class="w-fit cursor-pointer rounded-md px-2 py-1 text-soft hover:text-ink">More filters</summary>
        <div class="mt-1 grid grid-cols-2 items-end gap-2 sm:flex sm:flex-wrap">
          {FIELDS.map((field) => textField(field, 'sm:w-28'))}
          {TIMES.map(([name, label]) => (
            <div key={name} class="col-span-2 flex items-center gap-2 text-soft">
              <span class="w-20 shrink-0 whitespace-nowrap sm:w-auto" aria-hidden="true">
                {label}
              </span>
              <FilterField
                type="datetime-local"
                label={label}
                className="text-ink sm:w-44"
                value={localInput(filters[name])}
                set={(value) => set(name, isoOf(value))}
              />
            </div>
          ))}
        </div>
      </details>
      {Object.keys(filters).length > 0 && (
        <button type="button" class="link py-1 text-left" onClick={clearFilters}>
          clear
        </button>
      )}
    </search>
  );
}

interface FilterFieldProps {
  readonly type: 'text' | 'datetime-local';
  readonly label: string;
  readonly className: string;
  readonly placeholder?: string;
  /** The value in the URL. */
  readonly value: string;
  set(value: string): void;
}

/** Keeps the typed text until the change event, because the list is redrawn often. */
function FilterField({ type, label, className, placeholder, value, set }: FilterFieldProps) {
  const [draft, setDraft] = useState(value);
  useEffect(() => setDraft(value), [value]);
  return (
    <input
      type={type as 'text'}
      placeholder={placeholder}
      aria-label={label}
      class={`${FIELD_CLASS} ${className}`}
      value={draft}
      onInput={(event) => setDraft(event.currentTarget.value)}
      onChange={(event) => set(event.currentTarget.value)}
    />
  );
}

/** Converts a UTC time of the URL to the value of a datetime-local field. */
function localInput(iso: string | undefined): string {
  const at = iso === undefined ? Number.NaN : Date.parse(iso);
  return Number.isNaN(at) ? '' : localIso(at).slice(0, 16).replace(' ', 'T');
}

function isoOf(local: string): string {
  const at = new Date(local).getTime();
  return Number.isNaN(at) ? '' : new Date(at).toISOString();
}
