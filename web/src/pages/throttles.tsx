/** What limits jobs across queues: every throttle and key that is in use, who holds its slots, and how many wait for one. */
import { useState } from 'preact/hooks';
import { jobPath } from '../data/address.ts';
import { call } from '../data/call.ts';
import { useMay } from '../data/me.ts';
import { useAct } from '../data/use-act.ts';
import { useQuery } from '../data/use-query.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Empty } from '../ui/empty.tsx';
import { Field, saidIn } from '../ui/field.tsx';
import { Link } from '../ui/link.tsx';
import { Cell, Table } from '../ui/table.tsx';
import { Trouble } from '../ui/trouble.tsx';

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
  { text: 'At most', class: RIGHT },
  { text: 'Waiting', class: RIGHT },
  'Held by',
  'Change',
];
const SHOWN = 20;
/** Whose queue is not known here: the job's own page finds it. */
const SOME_QUEUE = '-';

export function ThrottlesPage() {
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
        {useMay('operate') && <Button onClick={() => change('')}>New throttle …</Button>}
      </header>
      <Trouble error={data === undefined ? error : null} />
      {data?.throttles.length === 0 && (
        <Empty title="Nothing is throttled">
          A throttle lets only so many of the jobs that name it run at once, whatever their queues. Give it a maximum
          here, and name it in a job's or a queue's throttles.
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
  const mayChange = useMay('operate') && name !== null;
  return (
    <tr class="hover:bg-raised/50">
      <Cell class="max-w-72 font-medium break-words">{name ?? `${queue ?? ''}: key ${key ?? ''}`}</Cell>
      <Cell class={`numbers text-right ${max !== null && held >= max ? 'text-warn' : ''}`}>{held}</Cell>
      <Cell class="numbers text-right">{max ?? 'any'}</Cell>
      <Cell class="numbers text-right">{waiting}</Cell>
      <Cell class="max-w-md">
        <Holders holders={holders} queue={queue ?? SOME_QUEUE} />
      </Cell>
      <Cell>{mayChange && <Button onClick={() => onChange(name)}>Maximum …</Button>}</Cell>
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
  /** Empty for a new one. */
  readonly name: string;
  onDone(): void;
  onClose(): void;
}

function SetMaximum({ name, onDone, onClose }: SetMaximumProps) {
  const { error, act } = useAct();
  const set = async (form: FormData) => {
    const [chosen, max] = [name === '' ? saidIn(form, 'name') : name, saidIn(form, 'max')];
    const path = `api/throttles/${encodeURIComponent(chosen)}`;
    await (max === '' ? call(path, { method: 'DELETE' }) : call(path, { method: 'PUT', body: { max: Number(max) } }));
    onDone();
  };
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    void act(() => set(form));
  };
  return (
    <Dialog title={name === '' ? 'A new throttle' : `The maximum of ${name}`} onClose={onClose}>
      <form class="grid gap-3" onSubmit={onSubmit}>
        {name === '' && <Field name="name" words="Name" />}
        <Field name="max" words="At most so many at once (empty: any number)" isNumber />
        <p class="text-soft">A lower one lets those that run finish.</p>
        <Trouble error={error} />
        <div class="flex justify-end gap-2">
          <Button onClick={onClose}>Not now</Button>
          <Button kind="main" type="submit">
            Set it
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
