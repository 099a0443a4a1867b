/** `longhaul prune`: does now what the node does by itself in small steps, or tells what that would take. */
import type { Prunable } from '../../../library/index.ts';
import { plural, bytes as size } from '../../../wire/spans.ts';
import type { Column } from '../../output/columns.ts';
import { table } from '../../output/columns.ts';
import { confirm } from '../../output/confirm.ts';
import { print, printJson, remark, screenOf } from '../../output/screen.ts';
import type { Call } from '../../table/call.ts';
import { createHttpCaller } from '../../target/http-caller.ts';
import { checkQueueIsKnown } from '../../target/known-names.ts';
import type { Target } from '../../target/open-target.ts';
import { tokenGiven, withTarget } from '../../target/open-target.ts';

export async function prune(call: Call): Promise<number> {
  const [queue, ...more] = call.positionals;
  if (more.length > 0) throw call.wrong('too many words');
  if (queue !== undefined && !call.flag('dry-run')) throw call.wrong('a queue is for --dry-run: pruning goes over all');
  return withTarget(call, async (target) => {
    if (queue !== undefined) await checkQueueIsKnown(target, queue);
    const found = await prunable(target, queue);
    if (call.flag('dry-run')) return tell(call, found);
    return pruneAll(call, target, found);
  });
}

/** A node knows of its files too. */
async function prunable({ longhaul, address }: Target, queue: string | undefined): Promise<readonly Prunable[]> {
  if (!/^(unix|https?):/.test(address)) return longhaul.prunable(queue);
  const caller = createHttpCaller(address, tokenGiven());
  try {
    const answer = await caller.call('GET', `/api/prunable${queue === undefined ? '' : `?queue=${queue}`}`);
    return ((await answer.json()) as { jobs: readonly Prunable[] }).jobs;
  } finally {
    caller.close();
  }
}

function tell(call: Call, found: readonly Prunable[]): number {
  if (call.flag('json')) printJson(found);
  else if (found.length === 0) remark('nothing would go');
  else for (const line of table(COLUMNS, found, screenOf())) print(line);
  return 0;
}

async function pruneAll(call: Call, { longhaul }: Target, found: readonly Prunable[]): Promise<number> {
  const jobs = found.filter(({ kind }) => !FILED.has(kind)).reduce((sum, each) => sum + countOf(each), 0);
  if (jobs > 0 && !(await confirm(call, `delete ${plural(jobs, 'job')} beyond retention`))) return 1;
  let [pruned, results] = [0, 0];
  for (let isMore = true; isMore; ) {
    const step = await longhaul.maintain();
    pruned += step.pruned + step.expiredDrafts;
    results += step.results;
    isMore = step.more;
  }
  if (call.flag('json')) printJson({ pruned, results });
  else print(`${plural(pruned, 'job')} deleted${results === 0 ? '' : `, and ${plural(results, 'result')} of others`}`);
  return 0;
}

/** What is no job. */
const FILED: ReadonlySet<Prunable['kind']> = new Set(['results', 'logs', 'attachments', 'statistics']);
const countOf = ({ byAge, byCount, byBytes }: Prunable): number => byAge + byCount + byBytes;

const number = (count: number): string => (count === 0 ? '' : String(count));

const COLUMNS: readonly Column<Prunable>[] = [
  { title: 'QUEUE', isWhole: true, of: ({ queue }) => queue },
  { title: 'WHAT', isWhole: true, of: ({ kind }) => kind },
  { title: 'TOO OLD', isWhole: true, of: ({ byAge }) => number(byAge) },
  { title: 'TOO MANY', isWhole: true, of: ({ byCount }) => number(byCount) },
  { title: 'TOO LARGE', isWhole: true, of: ({ byBytes }) => number(byBytes) },
  { title: 'BYTES', isWhole: true, of: ({ bytes }) => (bytes === 0 ? '' : size(bytes)) },
];
