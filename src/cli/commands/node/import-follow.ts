/** `longhaul import … --follow`: moves entries of another system as they come, until it is stopped. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { FollowCounts, Source } from '../../../importers/follow/follow.ts';
import { follow } from '../../../importers/follow/follow.ts';
import type { FollowSystem } from '../../../importers/follow/follow-systems.ts';
import { openKeyReader } from '../../../stores/redis/calls/read-keys.ts';
import { openScriptRunner } from '../../../stores/redis/calls/run-scripts.ts';
import { print, printNotice, screenOf } from '../../output/screen.ts';
import type { Args } from '../../table/args.ts';
import type { Target } from '../../target/open-target.ts';
import { withTarget } from '../../target/open-target.ts';
import { listenForStop } from '../../target/stop-signal.ts';
import { refuseImported } from './import-record.ts';
import { redactAddress } from './migrate.ts';

export async function followSource(args: Args, url: string, system: FollowSystem): Promise<number> {
  const stop = listenForStop();
  const lines = progress(args);
  try {
    const use = async ({ longhaul: { store } }: Target) => {
      await refuseImported(store, system.key, redactAddress(url));
      lines.notice(`following ${system.system} at ${redactAddress(url)}; stop with Ctrl-C`);
      return follow({
        system,
        store,
        open: () => openSource(url),
        owner: `${hostname()}:${process.pid}:${randomUUID()}`,
        newName: () => randomUUID().slice(0, 8),
        now: () => Date.now(),
        signal: stop.signal,
        onMoved: lines.moved,
        onNotice: lines.notice,
      });
    };
    const moved = await withTarget(args, use, { createsStore: 'anywhere' });
    lines.end();
    if (args.flag('json')) print(JSON.stringify(moved));
    else print(countsText(moved));
    return 0;
  } finally {
    lines.end();
    stop.release();
  }
}

async function openSource(url: string): Promise<Source> {
  const [keys, scripts] = [await openKeyReader(url), await openScriptRunner(url)];
  return {
    keys,
    run: (script, given) => scripts.run(script, given),
    close() {
      keys.close();
      scripts.close();
    },
  };
}

const EVERY_MS = 1_000;

/** A terminal redraws one line; elsewhere a line is printed once a second at most, with --json as JSON. */
function progress(args: Args) {
  const isTerminal = screenOf(process.stderr).isTerminal && !args.flag('json');
  let printedAt = Number.NEGATIVE_INFINITY;
  const clear = (): void => {
    if (isTerminal) process.stderr.write('\r\u001b[K');
  };
  return {
    moved(counts: FollowCounts): void {
      if (isTerminal) return void process.stderr.write(`\r\u001b[K${countsText(counts)}`);
      if (performance.now() - printedAt < EVERY_MS) return;
      printedAt = performance.now();
      print(args.flag('json') ? JSON.stringify(counts) : countsText(counts));
    },
    notice(text: string): void {
      clear();
      printNotice(text);
    },
    end: clear,
  };
}

function countsText({ jobs, schedules, rejected, queues }: FollowCounts): string {
  const byQueue = Object.entries(queues).map(([queue, count]) => `${queue} ${count}`);
  const parts = [
    `${jobs} jobs${byQueue.length === 0 ? '' : ` (${byQueue.join(', ')})`}`,
    ...(schedules > 0 ? [`${schedules} schedules`] : []),
    ...(rejected > 0 ? [`${rejected} kept in the source`] : []),
  ];
  return `moved ${parts.join(', ')}`;
}
