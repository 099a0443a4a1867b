/** The form for a new or edited schedule. */
import { useState } from 'preact/hooks';
import { OVERLAPS } from '../../../src/core/schedules/schedule.ts';
import type { ScheduleView } from '../../../src/wire/schedule-view.ts';
import { call } from '../data/call.ts';
import { useOverview } from '../data/overview.ts';
import { useAction } from '../data/use-action.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ErrorMessage } from '../ui/error-message.tsx';
import { FIELD, Field, fieldValue } from '../ui/field.tsx';
import { jsonProblem } from '../ui/json-problem.ts';
import { RuleFields } from './rule-fields.tsx';
import { schedulePath } from './schedule-actions.tsx';
import type { ScheduleFields } from './schedule-body.ts';
import { bodyOf, fieldsOf } from './schedule-body.ts';

interface FormProps {
  /** Null for a new schedule. */
  readonly schedule: ScheduleView | null;
  onClose(): void;
  onDone(): void;
}

export function ScheduleForm({ schedule, onClose, onDone }: FormProps) {
  const [rule, setRule] = useState(fieldsOf(schedule));
  const [data, setData] = useState(schedule === null ? '{}' : JSON.stringify(schedule.data, null, 2));
  const problem = jsonProblem(data);
  const { error, run } = useAction();
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    if (problem === null) void run(() => send({ form, rule, data, schedule }).then(onDone));
  };
  return (
    <Dialog title={schedule === null ? 'New schedule' : `Edit ${schedule.name}`} onClose={onClose}>
      <form class="grid gap-3" onSubmit={onSubmit}>
        <WhatFields schedule={schedule} />
        <RuleFields rule={rule} onChange={setRule} />
        <PolicyFields schedule={schedule} />
        <label class="text-sm">
          Data (JSON)
          <textarea
            class={`${FIELD} h-24 font-mono text-[13px]`}
            value={data}
            spellcheck={false}
            aria-invalid={problem !== null}
            onInput={(event) => setData(event.currentTarget.value)}
          />
          <span class="text-bad">{problem}</span>
        </label>
        <ErrorMessage error={error} />
        <div class="flex justify-end gap-2">
          <Button onClick={onClose}>Close</Button>
          <Button kind="main" type="submit" disabled={problem !== null}>
            {schedule === null ? 'Create schedule' : 'Save'}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

interface Sending {
  readonly form: FormData;
  readonly rule: ScheduleFields;
  readonly data: string;
  readonly schedule: ScheduleView | null;
}

async function send({ form, rule, data, schedule }: Sending): Promise<void> {
  const [queue = '', overlap = '', catchUp = '', backlog = '', jitter = '', name = ''] = [
    'queue',
    'overlap',
    'catchUp',
    'backlog',
    'jitter',
    'name',
  ].map((each) => fieldValue(form, each));
  const body = bodyOf(rule, { queue, overlap, catchUp, backlog, jitter, data }, schedule);
  await call(schedulePath(schedule?.name ?? name), { method: 'PUT', body });
}

function WhatFields({ schedule }: { schedule: ScheduleView | null }) {
  const { data } = useOverview();
  return (
    <div class="grid gap-3 sm:grid-cols-2">
      {schedule === null && <Field name="name" label="Name" placeholder="nightly" />}
      <label class="block text-sm">
        Queue
        <input name="queue" class={FIELD} list="queues" defaultValue={schedule?.queue ?? ''} />
        <datalist id="queues">
          {(data?.queues ?? []).map(({ name }) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      </label>
    </div>
  );
}

function PolicyFields({ schedule }: { schedule: ScheduleView | null }) {
  const backlog = schedule === null ? '1' : String(schedule.backlog ?? '');
  return (
    <div class="grid gap-3 sm:grid-cols-4">
      <label class="block text-sm">
        Overlap
        <select name="overlap" class={FIELD}>
          {OVERLAPS.map((word) => (
            <option key={word} value={word} selected={word === (schedule?.overlap ?? 'skip')}>
              {word}
            </option>
          ))}
        </select>
      </label>
      <Field name="catchUp" label="Catch up within" value={schedule?.catchUp ?? '1d'} />
      <Field name="backlog" label="Maximum runs to catch up" value={backlog} placeholder="all" isNumber />
      <Field name="jitter" label="Jitter" value={schedule?.jitter ?? '0ms'} />
    </div>
  );
}
