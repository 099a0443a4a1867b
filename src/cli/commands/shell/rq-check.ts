/**
 * `longhaul rq check`: a Nagios check, compatible with check_rq: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN.
 *
 * A queue that is not up, or that has failed messages, is critical. Thresholds apply to open and to done messages.
 */
import { LonghaulError } from '../../../core/ports/errors.ts';
import { createHttpCaller, type HttpCaller } from '../../../library/files/http-caller.ts';
import { print } from '../../output/screen.ts';
import { UsageError } from '../../table/command.ts';
import type { Flags } from './rq.ts';

interface RqQueue {
  readonly name: string;
  readonly status: string;
  readonly counts: Readonly<Record<'prep' | 'que' | 'run' | 'err' | 'done' | 'relayed', number>>;
}

const LEVELS = ['OK', 'WARNING', 'CRITICAL', 'UNKNOWN'] as const;
const UNKNOWN = 3;
/** Warning and critical thresholds of open messages, then of done messages. */
const THRESHOLDS = '10:20:3000:3500';

export async function checkQueues(flags: Flags, local: HttpCaller): Promise<number> {
  const limits = (flags['t'] ?? THRESHOLDS).split(':').map(Number);
  if (limits.length !== 4 || limits.some((limit) => !Number.isInteger(limit) || limit < 1))
    throw new UsageError('-t must be four positive integers, such as 10:20:3000:3500');
  const server = flags['s'] ?? flags['p'];
  const node =
    server === undefined
      ? local
      : createHttpCaller(`http://${flags['s'] ?? 'localhost'}:${flags['p'] ?? '3333'}`, process.env['LONGHAUL_TOKEN']);
  try {
    const { queues } = (await (await node.call('GET', '/q.json')).json()) as { queues: readonly RqQueue[] };
    return printResult(queues.map((queue) => levelOf(queue, limits)));
  } catch (error) {
    if (!(error instanceof LonghaulError)) throw error;
    print(`UNKNOWN: ${error.message}`);
    return UNKNOWN;
  } finally {
    if (node !== local) node.close();
  }
}

interface Finding {
  readonly level: number;
  readonly message: string;
}

function levelOf(
  { name, status, counts }: RqQueue,
  [warnOpen = 0, badOpen = 0, warnDone = 0, badDone = 0]: readonly number[],
): Finding {
  const open = counts.prep + counts.que + counts.run;
  const done = Math.max(counts.done, counts.relayed);
  if (status !== 'UP') return { level: 2, message: `${name} is ${status}` };
  if (counts.err > 0) return { level: 2, message: `${name} has ${counts.err} in err` };
  const level = open >= badOpen || done >= badDone ? 2 : open >= warnOpen || done >= warnDone ? 1 : 0;
  return { level, message: `${name} has ${open} open and ${done} done` };
}

function printResult(findings: readonly Finding[]): number {
  const level = Math.max(0, ...findings.map((finding) => finding.level));
  const worst = findings.filter((finding) => finding.level === level && level > 0).map(({ message }) => message);
  print(`${LEVELS[level]}: ${level === 0 ? `${findings.length} queues` : worst.join(', ')}`);
  return level;
}
