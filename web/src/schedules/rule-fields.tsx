/** The rule of a schedule: cron with a time zone, or an interval, with the node's description while typing. */
import { useEffect, useState } from 'preact/hooks';
import { localIso } from '../../../src/wire/spans.ts';
import { CallError, call } from '../data/call.ts';
import { FIELD } from '../ui/field.tsx';
import type { ScheduleFields } from './schedule-body.ts';
import { ruleBody } from './schedule-body.ts';

interface RuleProps {
  readonly rule: ScheduleFields;
  onChange(rule: ScheduleFields): void;
}

export function RuleFields({ rule, onChange }: RuleProps) {
  const field = (name: Exclude<keyof ScheduleFields, 'kind'>, label: string, list?: string) => (
    <label class="block text-sm">
      {label}
      <input
        class={`${FIELD} font-mono`}
        value={rule[name]}
        list={list}
        spellcheck={false}
        onInput={(event) => onChange({ ...rule, [name]: event.currentTarget.value.trim() })}
      />
    </label>
  );
  return (
    <fieldset class="grid gap-2">
      <legend class="sr-only">When</legend>
      <div class="grid gap-3 sm:grid-cols-[9rem_1fr_1fr]">
        <label class="block text-sm">
          When
          <select
            class={FIELD}
            value={rule.kind}
            onChange={(event) => onChange({ ...rule, kind: event.currentTarget.value === 'every' ? 'every' : 'cron' })}
          >
            <option value="cron">cron</option>
            <option value="every">interval</option>
          </select>
        </label>
        {rule.kind === 'cron' ? field('cron', 'Cron') : field('every', 'Every')}
        {rule.kind === 'cron' ? field('zone', 'Time zone', 'zones') : field('offset', 'Offset')}
      </div>
      <Zones />
      <Meaning rule={rule} />
    </fieldset>
  );
}

function Zones() {
  return (
    <datalist id="zones">
      {Intl.supportedValuesOf('timeZone').map((zone) => (
        <option key={zone} value={zone} />
      ))}
    </datalist>
  );
}

interface Explained {
  readonly words: string;
  readonly upcoming: readonly number[];
}

const DEBOUNCE_MS = 250;

function Meaning({ rule }: { rule: ScheduleFields }) {
  const [meaning, setMeaning] = useState<Explained | string>('');
  const asked = JSON.stringify(ruleBody(rule));
  useEffect(() => {
    const stopped = new AbortController();
    const timer = setTimeout(() => void explain(asked, stopped.signal).then(setMeaning, ignoreStop), DEBOUNCE_MS);
    return () => {
      clearTimeout(timer);
      stopped.abort();
    };
  }, [asked]);
  if (typeof meaning === 'string') return <p class="min-h-10 text-sm text-bad">{meaning}</p>;
  return (
    <p class="min-h-10 text-sm text-soft" role="status">
      <span class="text-ink">{meaning.words}</span>
      <br />
      next: {meaning.upcoming.slice(0, 3).map(localIso).join(' · ')}
    </p>
  );
}

/** Returns the description of a rule, or its error. */
async function explain(asked: string, signal: AbortSignal): Promise<Explained | string> {
  try {
    return await call<Explained>('api/schedules/explain', { method: 'POST', body: JSON.parse(asked), signal });
  } catch (error) {
    if (error instanceof CallError) return error.message;
    throw error;
  }
}

function ignoreStop(error: unknown): void {
  if (!(error instanceof DOMException && error.name === 'AbortError')) throw error;
}
