/** Throttles: maximum, held slots and their jobs, and the number of waiting jobs. */
import { useState } from 'preact/hooks';
import { call } from '../data/call.ts';
import { jobPath } from '../data/location.ts';
import { useHasRole } from '../data/me.ts';
import { useAction } from '../data/use-action.ts';
import { useQuery } from '../data/use-query.ts';
import { usePageTitle } from '../ui/breadcrumbs.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Empty } from '../ui/empty.tsx';
import { ErrorMessage } from '../ui/error-message.tsx';
import { Field, fieldValue } from '../ui/field.tsx';
import { Link } from '../ui/link.tsx';
import { Cell, Table } from '../ui/table.tsx';

interface Throttle {
  readonly name: string | null;
  readonly queue: string | null;
  readonly key: string | null;
  readonly max: number | null;
  readonly held: number;
  readonly waiting: number;
  readonly holders: readonly string[];
}

const RIGHT = 'text-right';
const HEADS = [
  'Throttle',
  { text: 'Held', class: RIGHT },
  { text: 'Maximum', class: RIGHT },
  { text: 'Waiting', class: RIGHT },
  'Held by',
  'Change',
];
const SHOWN = 20;
/** The queue of a holder is not known here; the job page redirects to it. */
const UNKNOWN_QUEUE = '-';

export function ThrottlesPage() {
  usePageTitle('Throttles');
  const { data, error, refresh } = useQuery<{ throttles: readonly Throttle[] }>('api/throttles');
  const [changing, change] = useState<string | null>(null);
  const done = () => {
    change(null);
    refresh();
  };
  return (
    <div class="grid grid-cols-[minmax(0,1fr)] gap-4">
      <header class="flex items-center justify-between gap-2">
        <h1 class="text-lg font-semibold">Throttles</h1>
        {useHasRole('operate') && <Button onClick={() => change('')}>New throttle …</Button>}
      </header>
      <ErrorMessage error={data === undefined ? error : null} />
      {data?.throttles.length === 0 && (
        <Empty title="No throttles">
          A throttle limits how many of the jobs that name it run at once, across queues. Set its maximum here, and name
          it in the setting throttles of a job or a queue.
        </Empty>
      )}
      {data !== undefined && data.throttles.length > 0 && (
        <Table caption="Throttles" heads={HEADS}>
          {data.throttles.map((each) => (
            <Row key={`${each.name}/${each.queue}/${each.key}`} throttle={each} onChange={change} />
          ))}
        </Table>
      )}
      {changing !== null && <SetMaximum name={changing} onDone={done} onClose={() => change(null)} />}
    </div>
  );
}

function Row({ throttle, onChange }: { throttle: Throttle; onChange: (name: string) => void }) {
  const { name, queue, key, max, held, waiting, holders } = throttle;
  const canChange = useHasRole('operate') && name !== null;
  return (
    <tr class="hover:bg-raised/50">
      <Cell class="max-w-72 font-medium break-all">{name ?? `${queue ?? ''}: key ${key ?? ''}`}</Cell>
      <Cell class={`numbers text-right ${max !== null && held >= max ? 'text-warn' : ''}`}>{held}</Cell>
      <Cell class="numbers text-right">{max ?? 'no limit'}</Cell>
      <Cell class="numbers text-right">{waiting}</Cell>
      <Cell class="max-w-md">
        <Holders holders={holders} queue={queue ?? UNKNOWN_QUEUE} />
      </Cell>
      <Cell>{canChange && <Button onClick={() => onChange(name)}>Maximum …</Button>}</Cell>
    </tr>
  );
}

function Holders({ holders, queue }: { holders: readonly string[]; queue: string }) {
  return (
    <div class="flex flex-wrap gap-x-3 font-mono text-xs">
      {holders.slice(0, SHOWN).map((id) => (
        <Link key={id} to={jobPath(queue, id)} class="link break-all">
          {id}
        </Link>
      ))}
      {holders.length > SHOWN && <span class="text-soft">and {holders.length - SHOWN} more</span>}
    </div>
  );
}

interface SetMaximumProps {
  /** Empty for a new throttle. */
  readonly name: string;
  onDone(): void;
  onClose(): void;
}

function SetMaximum({ name, onDone, onClose }: SetMaximumProps) {
  const { error, run } = useAction();
  const set = async (form: FormData) => {
    const [chosen, max] = [name === '' ? fieldValue(form, 'name') : name, fieldValue(form, 'max')];
    const path = `api/throttles/${encodeURIComponent(chosen)}`;
    await (max === '' ? call(path, { method: 'DELETE' }) : call(path, { method: 'PUT', body: { max: Number(max) } }));
    onDone();
  };
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    void run(() => set(form));
  };
  return (
    <Dialog title={name === '' ? 'New throttle' : `Maximum of ${name}`} onClose={onClose}>
      <form class="grid gap-3" onSubmit={onSubmit}>
        {name === '' && <Field name="name" label="Name" />}
        <Field name="max" label="Maximum (empty: no limit)" isNumber />
        <p class="text-soft">A lower maximum does not stop running jobs.</p>
        <ErrorMessage error={error} />
        <div class="flex justify-end gap-2">
          <Button onClick={onClose}>Close</Button>
          <Button kind="main" type="submit">
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
