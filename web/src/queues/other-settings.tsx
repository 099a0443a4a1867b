/**
 * The less common settings with their descriptions, from the node's list of settings. A scalar is edited in
 * place; an object is shown beside its field and replaced by the JSON entered there.
 */
import type { SettingSource } from '../../../src/core/settings/global-settings.ts';
import type { SettingView } from '../../../src/wire/insight-views.ts';
import { exactDuration } from '../../../src/wire/spans.ts';
import type { QueueView } from '../../../src/wire/views.ts';
import { useQuery } from '../data/use-query.ts';
import { Choice, FIELD } from '../ui/field.tsx';

type Settings = QueueView['settings'];

type Meaning = Pick<SettingView, 'name' | 'about'>;

interface OtherSettingsProps {
  readonly settings: Settings;
  readonly from: QueueView['from'];
  /** Settings with a field of their own. */
  readonly known: readonly string[];
  readonly problems: ReadonlyMap<string, string>;
}

/** The state of a queue has buttons of its own. */
const ELSEWHERE = ['state'];
const PREFIX = 'other:';

export function OtherSettings({ settings, from, known, problems }: OtherSettingsProps) {
  const { data } = useQuery<{ settings: readonly Meaning[] }>('api/settings', {
    concerns: () => false,
    everyMs: 600_000,
  });
  const rest = (data?.settings ?? []).filter(({ name }) => !known.includes(name) && !ELSEWHERE.includes(name));
  if (rest.length === 0) return null;
  // Opened if it contains an error; otherwise as the user left it.
  const isOpened = rest.some(({ name }) => problems.has(name));
  return (
    <details {...(isOpened && { open: true })}>
      <summary class="cursor-pointer font-medium">All other settings</summary>
      <div class="mt-3 grid gap-3">
        {rest.map((each) => (
          <SettingField
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

/** Where the value of a setting comes from. */
export const SOURCE_TEXT: Readonly<Record<SettingSource, string>> = {
  queue: 'set for this queue',
  global: 'set for all queues',
  default: '',
};

/** The values of settings that have only a few (src/core/settings/settings-input.ts). */
export const CHOICES: Readonly<Record<string, readonly string[] | undefined>> = {
  handshake: ['optional', 'required'],
  stdin: ['data', 'null'],
  stage: ['copy', 'link'],
  onLost: ['requeue', 'fail', 'hold'],
  lostCountsAs: ['crash', 'failure'],
};

type SettingFieldProps = Meaning & {
  readonly settings: object;
  readonly from: SettingSource;
  readonly problem: string | undefined;
};

export function SettingField({ name, about, settings, from, problem }: SettingFieldProps) {
  const value = valueIn(settings, name);
  const hasParts = typeof value === 'object' && value !== null;
  const choices = typeof value === 'boolean' ? ['true', 'false'] : CHOICES[name];
  return (
    <label class="block text-sm">
      <code class="font-mono">{name}</code> <span class="text-soft">{about}</span>
      {from !== 'default' && <span class="text-accent"> · {SOURCE_TEXT[from]}</span>}
      {hasParts && (
        <span class="block font-mono text-xs break-all text-soft">current: {JSON.stringify(asGiven(value))}</span>
      )}
      {choices !== undefined ? (
        <Choice name={`${PREFIX}${name}`} value={simple(value)} {...{ choices, problem }} />
      ) : (
        <input
          name={`${PREFIX}${name}`}
          type="text"
          class={FIELD}
          defaultValue={hasParts ? '' : simple(value)}
          placeholder={hasParts ? 'unchanged; or JSON' : 'none'}
          aria-invalid={problem !== undefined}
        />
      )}
      {problem !== undefined && <span class="text-bad">{problem}</span>}
    </label>
  );
}

export function hasField(form: HTMLFormElement | null, name: string): boolean {
  return [name, `${PREFIX}${name}`].some((each) => form?.elements.namedItem(each) != null);
}

/** Returns the changed settings. Text that is not JSON is sent as a string, so that the node reports the error. */
export function otherSettingChanges(settings: object, fields: FormData): Record<string, unknown> {
  const entered = [...fields].flatMap(([key, value]) =>
    key.startsWith(PREFIX) && typeof value === 'string' ? [[key.slice(PREFIX.length), value.trim()] as const] : [],
  );
  const changed = entered.filter(([name, text]) => {
    const value = valueIn(settings, name);
    return typeof value === 'object' && value !== null ? text !== '' : text !== simple(value);
  });
  return Object.fromEntries(
    changed.map(([name, text]) => [name, text === '' ? null : CHOICES[name] === undefined ? parsed(text) : text]),
  );
}

/** Settings hold durations as milliseconds in a field `<name>Ms`. */
function valueIn(settings: object, name: string): unknown {
  const all = settings as Readonly<Record<string, unknown>>;
  const ms = all[`${name}Ms`];
  return typeof ms === 'number' ? exactDuration(ms) : (all[name] ?? ms ?? null);
}

/** Converts a value to its input form: durations as text, under their input names, without unset parts. */
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
