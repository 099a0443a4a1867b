/** `longhaul relay`: sends a job to a queue of another node, or lists the jobs that are not delivered yet. */
import { checkDestination, isAddress, RELAY_QUEUE, readRelayRequest } from '../../../core/job/relay-request.ts';
import type { JobView } from '../../../library/index.ts';
import type { Column } from '../../output/columns.ts';
import { table } from '../../output/columns.ts';
import { print, printJson, printNotice, screenOf } from '../../output/screen.ts';
import type { Args } from '../../table/args.ts';
import { withTarget } from '../../target/open-target.ts';
import { addTo } from '../jobs/add.ts';

const MAX_LISTED = 100;

export async function relay(args: Args): Promise<number> {
  const [address] = args.positionals;
  if (address === undefined) return list(args);
  if (!isAddress(address))
    throw args.usageError(`ADDRESS must be an address such as http://host:3333/q/queue, not ${address}`);
  checkDestination(address);
  return addTo(args, { isKnown: true });
}

interface Row {
  readonly id: string;
  readonly to: string;
  readonly label: string;
  readonly reason: string;
}

async function list(args: Args): Promise<number> {
  return withTarget(args, async ({ longhaul }) => {
    const queue = longhaul.queue(RELAY_QUEUE);
    const pages = await Promise.all(
      (['running', 'waiting', 'failed'] as const).map((state) => queue.list({ state, limit: MAX_LISTED })),
    );
    const jobs = pages.flatMap((page) => page.jobs);
    if (args.flag('json')) printJson(jobs);
    else if (jobs.length === 0) printNotice('longhaul: no jobs to deliver');
    else for (const line of table(COLUMNS, jobs.map(rowOf), screenOf())) print(line);
    return 0;
  });
}

function rowOf({ id, data, label, reason, failure }: JobView): Row {
  const text = failure === null || label === 'failed' ? reason : `${failure.message}; ${reason}`;
  return { id, to: readRelayRequest(JSON.stringify(data))?.to ?? '', label, reason: text };
}

const COLUMNS: readonly Column<Row>[] = [
  { title: 'ID', isWhole: true, of: ({ id }) => id },
  { title: 'TO', isWhole: true, of: ({ to }) => to },
  { title: 'STATE', isWhole: true, of: ({ label }) => label },
  { title: 'REASON', of: ({ reason }) => reason },
];
