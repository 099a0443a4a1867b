/**
 * The settings that are seldom changed, each with what it means, from the node's own list of them. Simple ones stand in
 * their fields; what has parts is shown beside its field, and is changed by what is written there.
 */
import type { SettingSource } from '../../../src/core/settings/global-settings.ts';
import type { SettingView } from '../../../src/wire/insight-views.ts';
import { exactDuration } from '../../../src/wire/spans.ts';
import type { QueueView } from '../../../src/wire/views.ts';
import { useQuery } from '../data/use-query.ts';
import { FIELD } from '../ui/field.tsx';

type Settings = QueueView['settings'];

type Meaning = Pick<SettingView, 'name' | 'about'>;

interface EverySettingProps {
  readonly settings: Settings;
  readonly from: QueueView['from'];
  /** Those that have a field already. */
  readonly known: readonly string[];
  readonly problems: ReadonlyMap<string, string>;
}

/** A queue's state has buttons of its own. */
const ELSEWHERE = ['state'];
const MARK = 'other:';

export function EverySetting({ settings, from, known, problems }: EverySettingProps) {
  const { data } = useQuery<{ settings: readonly Meaning[] }>('api/settings', {
    concerns: () => false,
    everyMs: 600_000,
  });
  const rest = (data?.settings ?? []).filter(({ name }) => !known.includes(name) && !ELSEWHERE.includes(name));
  if (rest.length === 0) return null;
  // What is wrong must be seen; else it is as it was left.
  const isOpened = rest.some(({ name }) => problems.has(name));
  return (
    <details {...(isOpened && { open: true })}>
      <summary class="cursor-pointer font-medium">Every other setting</summary>
      <div class="mt-3 grid gap-3">
        {rest.map((each) => (
          <OneSetting
            key={each.name}
            {...each}
            settings={settings}
            from={from[each.name]}
            problem={problems.get(each.name)}
          />
        ))}
      </div>
    </details>
  );
}

/** Who set it, where somebody did. */
export const FROM_WORDS: Readonly<Record<SettingSource, string>> = {
  queue: 'set for this queue',
  global: 'set for every queue',
  default: '',
};

type OneProps = Meaning & {
  readonly settings: object;
  readonly from: SettingSource;
  readonly problem: string | undefined;
};

export function OneSetting({ name, about, settings, from, problem }: OneProps) {
  const value = valueIn(settings, name);
  const hasParts = typeof value === 'object' && value !== null;
  return (
    <label class="block text-sm">
      <code class="font-mono">{name}</code> <span class="text-soft">{about}</span>
      {from !== 'default' && <span class="text-accent"> · {FROM_WORDS[from]}</span>}
      {hasParts && (
        <span class="block font-mono text-xs break-all text-soft">now {JSON.stringify(asGiven(value))}</span>
      )}
      <input
        name={`${MARK}${name}`}
        type="text"
        class={FIELD}
        defaultValue={hasParts ? '' : simple(value)}
        placeholder={hasParts ? 'unchanged; or JSON' : 'none'}
        aria-invalid={problem !== undefined}
      />
      {problem !== undefined && <span class="text-bad">{problem}</span>}
    </label>
  );
}

export function hasField(form: HTMLFormElement | null, name: string): boolean {
  return [name, `${MARK}${name}`].some((each) => form?.elements.namedItem(each) != null);
}

/** What was changed of them. What is no JSON is sent as the words it is, so that the node says what is wrong with it. */
export function otherChanges(settings: object, fields: FormData): Record<string, unknown> {
  const said = [...fields].flatMap(([key, value]) =>
    key.startsWith(MARK) && typeof value === 'string' ? [[key.slice(MARK.length), value.trim()] as const] : [],
  );
  const changed = said.filter(([name, text]) => {
    const value = valueIn(settings, name);
    return typeof value === 'object' && value !== null ? text !== '' : text !== simple(value);
  });
  return Object.fromEntries(changed.map(([name, text]) => [name, text === '' ? null : parsed(text)]));
}

/** Durations stand in the settings as milliseconds, under a name of their own. */
function valueIn(settings: object, name: string): unknown {
  const all = settings as Readonly<Record<string, unknown>>;
  const ms = all[`${name}Ms`];
  return typeof ms === 'number' ? exactDuration(ms) : (all[name] ?? ms ?? null);
}

/** As the settings take it: durations in words, under the names they are given by, and nothing of what is not set. */
function asGiven(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const parts = Object.entries(value).filter(([, part]) => part !== null);
  return Object.fromEntries(
    parts.map(([name, part]) => {
      if (typeof part !== 'number') return [name, asGiven(part)];
      if (name === 'ms') return ['for', exactDuration(part)];
      return name.endsWith('Ms') ? [name.slice(0, -2), exactDuration(part)] : [name.replace(/Bytes$/, ''), part];
    }),
  );
}

const simple = (value: unknown): string =>
  value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
