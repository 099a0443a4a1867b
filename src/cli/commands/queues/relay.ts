/** `longhaul relay`: a job for a queue of another node, or what waits to be handed on and why. */
import { checkDestination, isAddress, RELAY_QUEUE, readOrder } from '../../../core/job/relay-request.ts';
import type { JobView } from '../../../library/index.ts';
import type { Column } from '../../output/columns.ts';
import { table } from '../../output/columns.ts';
import { print, printJson, remark, screenOf } from '../../output/screen.ts';
import type { Call } from '../../table/call.ts';
import { withTarget } from '../../target/open-target.ts';
import { addTo } from '../jobs/add.ts';

const MOST_LISTED = 100;

export async function relay(call: Call): Promise<number> {
  const [address] = call.positionals;
  if (address === undefined) return list(call);
  if (!isAddress(address)) throw call.wrong(`${address} is no address such as http://host:3333/q/queue`);
  checkDestination(address);
  return addTo(call, { isKnown: true });
}

interface Row {
  readonly id: string;
  readonly to: string;
  readonly label: string;
  readonly why: string;
}

async function list(call: Call): Promise<number> {
  return withTarget(call, async ({ longhaul }) => {
    const queue = longhaul.queue(RELAY_QUEUE);
    const pages = await Promise.all(
      (['running', 'waiting', 'failed'] as const).map((state) => queue.list({ state, limit: MOST_LISTED })),
    );
    const jobs = pages.flatMap((page) => page.jobs);
    if (call.flag('json')) printJson(jobs);
    else if (jobs.length === 0) remark('longhaul: nothing waits to be handed on');
    else for (const line of table(COLUMNS, jobs.map(rowOf), screenOf())) print(line);
    return 0;
  });
}

function rowOf({ id, data, label, reason, failure }: JobView): Row {
  const why = failure === null || label === 'failed' ? reason : `${failure.message}; ${reason}`;
  return { id, to: readOrder(JSON.stringify(data))?.to ?? '', label, why };
}

const COLUMNS: readonly Column<Row>[] = [
  { title: 'ID', isWhole: true, of: ({ id }) => id },
  { title: 'TO', isWhole: true, of: ({ to }) => to },
  { title: 'STATE', isWhole: true, of: ({ label }) => label },
  { title: 'WHY', of: ({ why }) => why },
];
