/**
 * `longhaul import`: imports jobs of Blueque, qless or Worqr from their Redis, or of RQ from its directory. Only reads the
 * source, except with --follow, which moves its entries.
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { FollowSystem } from '../../../importers/follow/follow-systems.ts';
import { FOLLOW_BLUEQUE, FOLLOW_QLESS, followWorqr } from '../../../importers/follow/follow-systems.ts';
import type { ForeignKeys, ForeignStore } from '../../../importers/foreign-job.ts';
import { type ImportResult, importJobs } from '../../../importers/import-jobs.ts';
import { readBlueque } from '../../../importers/read-blueque.ts';
import { readQless } from '../../../importers/read-qless.ts';
import { readWorqr } from '../../../importers/read-worqr.ts';
import { openKeyReader } from '../../../stores/redis/calls/read-keys.ts';
import { progressLine } from '../../output/progress.ts';
import { print, printNotice } from '../../output/screen.ts';
import type { Args } from '../../table/args.ts';
import { homeOf } from '../../table/command.ts';
import { withTarget } from '../../target/open-target.ts';
import { followSource } from './import-follow.ts';
import { markImported } from './import-record.ts';
import type { ImportTarget, RqImportResult } from './import-rq.ts';
import { importRq } from './import-rq.ts';
import { redactAddress } from './migrate.ts';

interface RedisSystem {
  read(keys: ForeignKeys, args: Args): Promise<ForeignStore>;
  follow(args: Args): FollowSystem;
}
const SYSTEMS: Readonly<Record<string, RedisSystem>> = {
  'from-blueque': { read: readBlueque, follow: () => FOLLOW_BLUEQUE },
  'from-qless': { read: readQless, follow: () => FOLLOW_QLESS },
  'from-worqr': {
    read: (keys, args) => readWorqr(keys, args.text('prefix')),
    follow: (args) => followWorqr(args.text('prefix')),
  },
};
const SOURCES = [...Object.keys(SYSTEMS), 'from-rq'];

export async function importAll(args: Args): Promise<number> {
  if (args.positionals.length > 0) throw args.usageError('too many arguments');
  const given = SOURCES.filter((name) => args.text(name) !== undefined);
  const [name = ''] = given;
  if (given.length !== 1)
    throw args.usageError(`exactly one of ${SOURCES.map((each) => `--${each}`).join(', ')} is required`);
  const isFollowing = args.flag('follow');
  if (isFollowing && (args.flag('dry-run') || args.flag('running')))
    throw args.usageError('--follow cannot be combined with --dry-run or --running');
  const source = args.text(name) ?? '';
  const system = SYSTEMS[name];
  if (system === undefined) {
    if (isFollowing)
      throw args.usageError('--follow needs a Redis: RQ relays its own messages (docs/migrating-from-rq.md)');
    return importDirectory(args, source);
  }
  return isFollowing ? followSource(args, source, system.follow(args)) : importKeys(args, source, system);
}

async function importDirectory(args: Args, directory: string): Promise<number> {
  const progress = importProgress(args);
  const result = await withImportTarget(args, (target) =>
    importRq(directory, target, { ...optionsOf(args), onProgress: progress.show }),
  );
  progress.clear();
  return printRqResult(args, result);
}

async function importKeys(args: Args, url: string, { read, follow }: RedisSystem): Promise<number> {
  const keys = await openKeyReader(url);
  const progress = importProgress(args);
  try {
    const found = await read(keys, args);
    const { system, key } = follow(args);
    const result = await withImportTarget(args, async ({ longhaul: { store } }) => {
      const origin = `${system} at ${redactAddress(url)}`;
      const options = { ...optionsOf(args), store, origin, takesRunning: args.flag('running') };
      // A bridge would move what was copied here once more.
      if (!args.flag('dry-run') && found.jobs.some(({ state }) => state === 'waiting'))
        await markImported(store, key, redactAddress(url));
      return importJobs(found, { ...options, onProgress: progress.show });
    });
    progress.clear();
    return printResult(args, result);
  } finally {
    keys.close();
  }
}

/** An import creates the store. A dry run does not: where there is no data directory, it compares with an empty store. */
async function withImportTarget<T>(args: Args, use: (target: ImportTarget) => Promise<T>): Promise<T> {
  if (!args.flag('dry-run')) return withTarget(args, use, { createsStore: 'anywhere' });
  const home = homeOf(args.text('home'));
  const isNamed = (args.text('store') ?? process.env['LONGHAUL_STORE'] ?? '') !== '';
  if (isNamed || existsSync(home.root)) return withTarget(args, use);
  const longhaul = await (await import('../../../library/index.ts')).connect('memory:');
  try {
    return await use({ longhaul, home, address: 'memory:' });
  } finally {
    await longhaul.close();
  }
}

const optionsOf = (args: Args) => ({
  isDryRun: args.flag('dry-run'),
  now: Date.now(),
  importId: `import-${randomUUID()}`,
});

function importProgress(args: Args) {
  const line = progressLine({ isSilent: args.flag('json') });
  return { show: (done: number, of: number): void => line.show(() => `imported ${done} of ${of}`), clear: line.clear };
}

function printResult(args: Args, result: ImportResult): number {
  if (args.flag('json')) {
    print(JSON.stringify(result));
    return 0;
  }
  const { tracked, throttles, records } = result.besides;
  printCounts(args, result, { 'tracked jobs': tracked, throttles, 'settings records': records });
  return 0;
}

function printCounts(args: Args, result: ImportResult, more: Readonly<Record<string, number>>): void {
  const { imported, known, unmapped } = result;
  const { drafts, ...always } = imported;
  const others = Object.entries({ drafts, ...more }).filter(([, count]) => count > 0);
  const counts = [...Object.entries(always), ...others].map(([kind, count]) => `${count} ${kind}`);
  print(`${args.flag('dry-run') ? 'would import' : 'imported'} ${counts.join(', ')}; ${known} existed already`);
  for (const reason of unmapped) print(`not imported: ${reason}`);
}

function printRqResult(args: Args, result: RqImportResult): number {
  if (args.flag('json')) {
    print(JSON.stringify(result));
    return 0;
  }
  const { queues, attachments, logs, scriptDirs } = result;
  printCounts(args, result, { queues, attachments, logs });
  if (scriptDirs.length > 0 && !args.flag('dry-run')) {
    printNotice('the node runs these scripts once their directories are in node.json:');
    printNotice(`  "scriptDirs": ${JSON.stringify(scriptDirs)}`);
  }
  return 0;
}
