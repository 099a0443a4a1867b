/** Throttles: maximum, rate and next start, held slots and their jobs, and the number of waiting jobs. */
import { useState } from 'preact/hooks';
import { exactDuration, localIso } from '../../../src/wire/spans.ts';
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
  readonly nextStartAt: number | null;
  readonly rate: { readonly count: number; readonly ms: number } | null;
  readonly by: readonly string[];
  readonly cost: string | null;
  readonly holders: readonly string[];
}

const RIGHT = 'text-right';
const HEADS = [
  'Throttle',
  { text: 'Held', class: RIGHT },
  { text: 'Maximum', class: RIGHT },
  'Rate',
  'Next start',
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
  const [changing, change] = useState<Throttle | 'new' | null>(null);
  const done = () => {
    change(null);
    refresh();
  };
  return (
    <div class="grid grid-cols-[minmax(0,1fr)] gap-4">
      <header class="flex items-center justify-between gap-2">
        <h1 class="text-lg font-semibold">Throttles</h1>
        {useHasRole('operate') && <Button onClick={() => change('new')}>New throttle …</Button>}
      </header>
      <ErrorMessage error={data === undefined ? error : null} />
      {data?.throttles.length === 0 && (
        <Empty title="No throttles">
          A throttle limits how many of the jobs that name it run at once, across queues. Set its maximum or its rate
          here, and name it in the setting throttles of a job or a queue.
        </Empty>
      )}
      {data !== undefined && data.throttles.length > 0 && (
        <Table caption="Throttles" stacks heads={HEADS}>
          {data.throttles.map((each) => (
            <Row key={`${each.name}/${each.queue}/${each.key}`} throttle={each} onChange={change} />
          ))}
        </Table>
      )}
      {changing !== null && (
        <SetLimits throttle={changing === 'new' ? null : changing} onDone={done} onClose={() => change(null)} />
      )}
    </div>
  );
}

function Row({ throttle, onChange }: { throttle: Throttle; onChange: (throttle: Throttle) => void }) {
  const { name, queue, key, max, held, waiting, holders, nextStartAt } = throttle;
  const canChange = useHasRole('operate') && name !== null && key === null;
  return (
    <tr class="hover:bg-raised/50">
      <Cell class="max-w-72 font-medium break-all">{key === null ? name : `${name ?? queue ?? ''}: key ${key}`}</Cell>
      <Cell class={`numbers text-right ${max !== null && held >= max ? 'text-warn' : ''}`}>{held}</Cell>
      <Cell class="numbers text-right">{max ?? 'no limit'}</Cell>
      <Cell>{rateText(throttle)}</Cell>
      <Cell class="numbers">{nextStartAt === null ? '' : localIso(nextStartAt).slice(11)}</Cell>
      <Cell class="numbers text-right">{waiting}</Cell>
      <Cell class="max-w-md">
        <Holders holders={holders} queue={queue ?? UNKNOWN_QUEUE} />
      </Cell>
      <Cell>{canChange && <Button onClick={() => onChange(throttle)}>Limits …</Button>}</Cell>
    </tr>
  );
}

/** The rate as it is set, such as 60/1m. */
const rateText = ({ rate }: Pick<Throttle, 'rate'>): string =>
  rate === null ? '' : `${rate.count}/${exactDuration(rate.ms)}`;

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

interface SetLimitsProps {
  /** Null for a new throttle. */
  readonly throttle: Throttle | null;
  onDone(): void;
  onClose(): void;
}

function SetLimits({ throttle, onDone, onClose }: SetLimitsProps) {
  const { error, run } = useAction();
  const set = async (form: FormData) => {
    const path = `api/throttles/${encodeURIComponent(throttle?.name ?? fieldValue(form, 'name'))}`;
    const [max, rate] = [fieldValue(form, 'max'), fieldValue(form, 'rate')];
    const ofRate = {
      rate,
      ...(throttle !== null && throttle.by.length > 0 && { by: throttle.by }),
      ...(throttle !== null && throttle.cost !== null && { cost: throttle.cost }),
    };
    const body = { ...(max !== '' && { max: Number(max) }), ...(rate !== '' && ofRate) };
    await (max === '' && rate === '' ? call(path, { method: 'DELETE' }) : call(path, { method: 'PUT', body }));
    onDone();
  };
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    void run(() => set(form));
  };
  return (
    <Dialog title={throttle === null ? 'New throttle' : `Limits of ${throttle.name}`} onClose={onClose}>
      <form class="grid gap-3" onSubmit={onSubmit}>
        {throttle === null && <Field name="name" label="Name" />}
        <Field name="max" label="Maximum (empty: no limit)" value={String(throttle?.max ?? '')} isNumber />
        <Field
          name="rate"
          label="Rate, such as 60/1m (empty: no limit)"
          value={throttle === null ? '' : rateText(throttle)}
        />
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
