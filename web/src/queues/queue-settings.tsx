/**
 * The settings of a queue, changed in place: what differs from what was there is sent, nothing else. What the node says
 * no to is shown beside the field it concerns.
 */
import { useRef } from 'preact/hooks';
import type { SettingName, SettingSource } from '../../../src/core/settings/global-settings.ts';
import { exactDuration } from '../../../src/wire/spans.ts';
import type { QueueView } from '../../../src/wire/views.ts';
import { call } from '../data/call.ts';
import { useAct } from '../data/use-act.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Field, saidIn } from '../ui/field.tsx';
import { Trouble } from '../ui/trouble.tsx';
import { EverySetting, FROM_WORDS, hasField, otherChanges } from './every-setting.tsx';

type Settings = QueueView['settings'];

interface Editable {
  readonly name: SettingName;
  readonly words: string;
  readonly kind: 'number' | 'duration' | 'text';
  shown(settings: Settings): string;
}

const inTime = (ms: number | null): string => (ms === null ? '' : exactDuration(ms));

const FIELDS: readonly Editable[] = [
  { name: 'concurrency', words: 'At once', kind: 'number', shown: (of) => String(of.concurrency) },
  { name: 'retries', words: 'Retries', kind: 'number', shown: (of) => String(of.retries) },
  { name: 'maxCrashes', words: 'Crashes allowed', kind: 'number', shown: (of) => String(of.maxCrashes) },
  { name: 'maxRuntime', words: 'Longest run (empty: none)', kind: 'duration', shown: (of) => inTime(of.maxRuntimeMs) },
  {
    name: 'maxSilence',
    words: 'Longest silence (empty: none)',
    kind: 'duration',
    shown: (of) => inTime(of.maxSilenceMs),
  },
  { name: 'grace', words: 'Grace before KILL', kind: 'duration', shown: (of) => inTime(of.graceMs) },
  { name: 'onLost', words: 'When a worker is lost (requeue, fail, hold)', kind: 'text', shown: (of) => of.onLost },
  { name: 'note', words: 'Note', kind: 'text', shown: (of) => of.note ?? '' },
  { name: 'script', words: 'Script (admin only)', kind: 'text', shown: (of) => of.script ?? '' },
];

interface SettingsProps {
  readonly queue: QueueView;
  onDone(): void;
  onClose(): void;
}

export function QueueSettings({ queue, onDone, onClose }: SettingsProps) {
  const { error, act } = useAct();
  const form = useRef<HTMLFormElement>(null);
  const submit = async (form: HTMLFormElement) => {
    const fields = new FormData(form);
    const body = { ...changesOf(queue.settings, fields), ...otherChanges(queue.settings, fields) };
    await call(`api/queues/${encodeURIComponent(queue.name)}`, { method: 'PATCH', body });
    onDone();
  };
  const problems = new Map(
    (error?.details?.problems ?? []).map(({ path, message }) => [path.split('.')[0] ?? '', message]),
  );
  // What is wrong with a setting is said beside it; what belongs to none is said below.
  const isAllInPlace = problems.size > 0 && [...problems.keys()].every((name) => hasField(form.current, name));
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    void act(() => submit(form));
  };
  return (
    <Dialog title={`Settings of ${queue.name}`} onClose={onClose}>
      <form ref={form} class="grid gap-3" onSubmit={onSubmit}>
        <div class="grid gap-3 sm:grid-cols-3">
          {FIELDS.map(({ name, words, kind, shown }) => (
            <Field
              key={name}
              name={name}
              words={wordsWith(words, queue.from[name])}
              value={shown(queue.settings)}
              isNumber={kind === 'number'}
              problem={problems.get(name)}
            />
          ))}
        </div>
        <EverySetting
          settings={queue.settings}
          from={queue.from}
          known={FIELDS.map(({ name }) => name)}
          problems={problems}
        />
        <p class="text-sm text-soft">
          Durations such as 90s, 10m or 2h. They take effect at once; running jobs keep what they began with.
        </p>
        {!isAllInPlace && <Trouble error={error} />}
        <div class="flex justify-end gap-2">
          <Button onClick={onClose}>Not now</Button>
          <Button kind="main" type="submit">
            Change the settings
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Who set it, beside the words of a field. */
const wordsWith = (words: string, from: SettingSource): string =>
  from === 'default' ? words : `${words} · ${FROM_WORDS[from]}`;

function changesOf(settings: Settings, form: FormData): Record<string, unknown> {
  const changed = FIELDS.flatMap(({ name, kind, shown }) => {
    const said = saidIn(form, name);
    return said === shown(settings) ? [] : [[name, valueOf(said, kind)]];
  });
  return Object.fromEntries(changed) as Record<string, unknown>;
}

/** What is no number is sent as it stands, so that the node says what is wrong with it. */
function valueOf(said: string, kind: Editable['kind']): unknown {
  if (kind === 'number') return said === '' || Number.isNaN(Number(said)) ? said : Number(said);
  return said === '' ? null : said;
}
