/** `longhaul prune`: deletes data beyond retention at once, or shows what would be deleted. A node prunes in small steps. */

import { createHttpCaller } from '../../../library/files/http-caller.ts';
import type { Prunable } from '../../../library/index.ts';
import { plural, bytes as size } from '../../../wire/spans.ts';
import type { Column } from '../../output/columns.ts';
import { table } from '../../output/columns.ts';
import { confirm } from '../../output/confirm.ts';
import { progressLine } from '../../output/progress.ts';
import { print, printJson, printNotice, screenOf } from '../../output/screen.ts';
import type { Args } from '../../table/args.ts';
import { requireQueue } from '../../target/known-names.ts';
import type { Target } from '../../target/open-target.ts';
import { tokenFromEnv, withTarget } from '../../target/open-target.ts';

export async function prune(args: Args): Promise<number> {
  const [queue, ...more] = args.positionals;
  if (more.length > 0) throw args.usageError('too many arguments');
  if (queue !== undefined && !args.flag('dry-run'))
    throw args.usageError('QUEUE requires --dry-run: longhaul prune deletes from all queues');
  return withTarget(args, async (target) => {
    if (queue !== undefined) await requireQueue(target, queue);
    const found = await prunable(target, queue);
    if (args.flag('dry-run')) return printPrunable(args, found);
    return pruneAll(args, target, found);
  });
}

/** Asks the node if there is one, because it includes its files. */
async function prunable({ longhaul, address }: Target, queue: string | undefined): Promise<readonly Prunable[]> {
  if (!/^(unix|https?):/.test(address)) return longhaul.prunable(queue);
  const caller = createHttpCaller(address, tokenFromEnv());
  try {
    const answer = await caller.call('GET', `/api/prunable${queue === undefined ? '' : `?queue=${queue}`}`);
    return ((await answer.json()) as { jobs: readonly Prunable[] }).jobs;
  } finally {
    caller.close();
  }
}

function printPrunable(args: Args, found: readonly Prunable[]): number {
  if (args.flag('json')) printJson(found);
  else if (found.length === 0) printNotice('nothing would be deleted');
  else for (const line of table(COLUMNS, found, screenOf())) print(line);
  return 0;
}

async function pruneAll(args: Args, { longhaul }: Target, found: readonly Prunable[]): Promise<number> {
  const jobs = found.filter(({ kind }) => !NOT_JOBS.has(kind)).reduce((sum, each) => sum + countOf(each), 0);
  if (jobs > 0 && !(await confirm(args, `delete ${plural(jobs, 'job')} beyond retention`))) return 1;
  const progress = progressLine({ isSilent: args.flag('json') });
  let [pruned, results] = [0, 0];
  for (let isMore = true; isMore; ) {
    const step = await longhaul.maintain();
    pruned += step.pruned + step.expiredDrafts;
    results += step.results;
    isMore = step.more;
    progress.show(() => `deleted ${pruned} of ${plural(jobs, 'job')}`);
  }
  progress.clear();
  if (args.flag('json')) printJson({ pruned, results });
  else
    print(
      `deleted ${plural(pruned, 'job')}${results === 0 ? '' : ` and the results of ${plural(results, 'other job')}`}`,
    );
  return 0;
}

/** Kinds that are not jobs. */
const NOT_JOBS: ReadonlySet<Prunable['kind']> = new Set(['results', 'logs', 'attachments', 'statistics']);
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
