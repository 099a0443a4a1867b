/**
 * The settings of a queue. Only changed settings are sent. An error of the node
 * is shown beside its field.
 */
import { useRef } from 'preact/hooks';
import type { SettingName, SettingSource } from '../../../src/core/settings/global-settings.ts';
import { exactDuration } from '../../../src/wire/spans.ts';
import type { QueueView } from '../../../src/wire/views.ts';
import { call } from '../data/call.ts';
import { useAction } from '../data/use-action.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ErrorMessage } from '../ui/error-message.tsx';
import { Field, fieldValue, STICKY } from '../ui/field.tsx';
import { CHOICES, hasField, OtherSettings, otherSettingChanges, SOURCE_TEXT } from './other-settings.tsx';

type Settings = QueueView['settings'];

interface Editable {
  readonly name: SettingName;
  readonly label: string;
  readonly kind: 'number' | 'duration' | 'text';
  shown(settings: Settings): string;
}

const durationText = (ms: number | null): string => (ms === null ? '' : exactDuration(ms));

const GROUPS: readonly (readonly [title: string, fields: readonly Editable[]])[] = [
  [
    'Capacity and failures',
    [
      { name: 'concurrency', label: 'Concurrency', kind: 'number', shown: (of) => String(of.concurrency) },
      { name: 'retries', label: 'Retries', kind: 'number', shown: (of) => String(of.retries) },
      { name: 'maxCrashes', label: 'Maximum crashes', kind: 'number', shown: (of) => String(of.maxCrashes) },
      { name: 'onLost', label: 'When a worker is lost', kind: 'text', shown: (of) => of.onLost },
    ],
  ],
  [
    'Time limits',
    [
      {
        name: 'maxRuntime',
        label: 'Maximum run time (empty: none)',
        kind: 'duration',
        shown: (of) => durationText(of.maxRuntimeMs),
      },
      {
        name: 'maxSilence',
        label: 'Maximum silence (empty: none)',
        kind: 'duration',
        shown: (of) => durationText(of.maxSilenceMs),
      },
      { name: 'grace', label: 'Grace period before KILL', kind: 'duration', shown: (of) => durationText(of.graceMs) },
    ],
  ],
  [
    'Script and note',
    [
      { name: 'script', label: 'Script (admin only)', kind: 'text', shown: (of) => of.script ?? '' },
      { name: 'note', label: 'Note', kind: 'text', shown: (of) => of.note ?? '' },
    ],
  ],
];
const FIELDS = GROUPS.flatMap(([, fields]) => fields);

interface SettingsProps {
  readonly queue: QueueView;
  onDone(): void;
  onClose(): void;
}

export function QueueSettings({ queue, onDone, onClose }: SettingsProps) {
  const { error, run } = useAction();
  const form = useRef<HTMLFormElement>(null);
  const submit = async (form: HTMLFormElement) => {
    const fields = new FormData(form);
    const body = { ...changesOf(queue.settings, fields), ...otherSettingChanges(queue.settings, fields) };
    await call(`api/queues/${encodeURIComponent(queue.name)}`, { method: 'PATCH', body });
    onDone();
  };
  const problems = new Map(
    (error?.details?.problems ?? []).map(({ path, message }) => [path.split('.')[0] ?? '', message]),
  );
  // An error of a setting is shown beside it; other errors are shown below.
  const isAllInPlace = problems.size > 0 && [...problems.keys()].every((name) => hasField(form.current, name));
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    void run(() => submit(form));
  };
  return (
    <Dialog title={`Settings of ${queue.name}`} onClose={onClose}>
      <form ref={form} class="grid gap-3" onSubmit={onSubmit}>
        {GROUPS.map(([title, fields]) => (
          <fieldset key={title} class="grid gap-3 rounded-md border border-line px-3 pt-1 pb-3 sm:grid-cols-2">
            <legend class="px-1 text-sm font-medium">{title}</legend>
            {fields.map(({ name, label, kind, shown }) => (
              <Field
                key={name}
                name={name}
                label={labelWith(label, queue.from[name])}
                value={shown(queue.settings)}
                isNumber={kind === 'number'}
                choices={CHOICES[name]}
                problem={problems.get(name)}
              />
            ))}
          </fieldset>
        ))}
        <OtherSettings
          settings={queue.settings}
          from={queue.from}
          known={FIELDS.map(({ name }) => name)}
          problems={problems}
        />
        <p class="text-sm text-soft">
          Durations are written as 90s, 10m or 2h. Changes take effect at once; running jobs keep their settings.
        </p>
        {!isAllInPlace && <ErrorMessage error={error} />}
        <div class={`flex justify-end gap-2 ${STICKY}`}>
          <Button onClick={onClose}>Close</Button>
          <Button kind="main" type="submit">
            Save settings
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Adds the source of the value to a label. */
const labelWith = (label: string, from: SettingSource): string =>
  from === 'default' ? label : `${label} · ${SOURCE_TEXT[from]}`;

function changesOf(settings: Settings, form: FormData): Record<string, unknown> {
  const changed = FIELDS.flatMap(({ name, kind, shown }) => {
    const value = fieldValue(form, name);
    return value === shown(settings) ? [] : [[name, valueOf(value, kind)]];
  });
  return Object.fromEntries(changed) as Record<string, unknown>;
}

/** Text that is not a number is sent unchanged, so that the node reports the error. */
function valueOf(value: string, kind: Editable['kind']): unknown {
  if (kind === 'number') return value === '' || Number.isNaN(Number(value)) ? value : Number(value);
  return value === '' ? null : value;
}
