/** `longhaul migrate`: migrates a whole store to another one; `--reopen` abandons an unfinished migration. */
import { randomUUID } from 'node:crypto';
import { parseDuration } from '../../../core/input/duration.ts';
import { LonghaulError } from '../../../core/ports/errors.ts';
import { MIGRATION_PARTS } from '../../../core/ports/migration.ts';
import type { OpenedStore } from '../../../library/store-address.ts';
import { openStoreAt } from '../../../library/store-address.ts';
import { homeAt } from '../../../node/home.ts';
import { rowsOf } from '../../../node/migration/compare-stores.ts';
import type { FilesResult } from '../../../node/migration/copy-files.ts';
import { copyFiles } from '../../../node/migration/copy-files.ts';
import { runningJobs } from '../../../node/migration/left-behind.ts';
import type { MigrationResult } from '../../../node/migration/migrate-store.ts';
import { migrateStore } from '../../../node/migration/migrate-store.ts';
import { bytes } from '../../../wire/spans.ts';
import { print } from '../../output/screen.ts';
import type { Args } from '../../table/args.ts';
import { UsageError } from '../../table/command.ts';
import { listenForStop } from '../../target/stop-signal.ts';
import type { ProgressLines } from './migration-progress.ts';
import { progressLines } from './migration-progress.ts';

interface Stores {
  readonly from: OpenedStore;
  readonly to: OpenedStore;
  readonly fromName: string;
  readonly toName: string;
}

export async function migrate(args: Args): Promise<number> {
  if (args.positionals.length > 0) throw args.usageError('too many arguments');
  const [from, to] = [args.text('from'), args.text('to')];
  if (from === undefined) throw args.usageError('--from ADDRESS is missing');
  if (args.flag('reopen')) return reopen(from);
  if (to === undefined) throw args.usageError('--to ADDRESS is missing');
  if (redactAddress(from) === redactAddress(to))
    throw new UsageError(`--from and --to are the same store: ${redactAddress(from)}`);
  const opened = await openStoreAt(from, { create: false });
  try {
    if (args.flag('dry-run')) return printContents(args, await contents(opened));
    const target = await openStoreAt(to, {});
    try {
      return await migrateTo(args, {
        from: opened,
        to: target,
        fromName: redactAddress(from),
        toName: redactAddress(to),
      });
    } finally {
      await target.store.close();
    }
  } finally {
    await opened.store.close();
  }
}

/** Removes user name and password from an address, for messages and for the reference in the old store. */
export function redactAddress(address: string): string {
  if (!/^(redis|rediss|valkey|valkeys):/i.test(address) || !URL.canParse(address)) return address;
  const url = new URL(address);
  url.username = '';
  url.password = '';
  return url.href;
}

async function migrateTo(args: Args, stores: Stores): Promise<number> {
  const stop = listenForStop();
  const lines = progressLines(args.flag('json'));
  const copyFiles = filesOf(args, stores, { signal: stop.signal, lines });
  try {
    let files: FilesResult | null = null;
    const result = await migrateStore({
      from: stores.from.store,
      to: stores.to.store,
      fromName: stores.fromName,
      toName: stores.toName,
      waitMs: waitOf(args),
      leave: args.flag('leave'),
      signal: stop.signal,
      now: () => Date.now(),
      newId: () => randomUUID(),
      onProgress: lines.show,
      copyFiles: async () => {
        files = await copyFiles();
      },
    });
    lines.clear();
    return printResult(args, stores, result, files);
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    lines.clear();
    const where = lines.last === '' ? '' : ` (${lines.last})`;
    throw new LonghaulError(
      'refused',
      `migration interrupted${where}: run the same command to continue it, or abandon it with --reopen`,
    );
  } finally {
    lines.clear();
    stop.release();
  }
}

function waitOf(args: Args): number {
  const wait = args.text('wait');
  const ms = wait === undefined ? 0 : parseDuration(wait);
  if (ms === null) throw new UsageError(`--wait must be a duration such as 10m, not ${wait}`);
  return ms;
}

/** Returns the step that copies attachments and logs. Stores in directories name their data directory; others need options. */
function filesOf(
  args: Args,
  { from, to }: Stores,
  { signal, lines }: { signal: AbortSignal; lines: ProgressLines },
): () => Promise<FilesResult | null> {
  const [source, target] = [args.text('from-home') ?? from.home, args.text('to-home') ?? to.home];
  if (source === null || target === null || source === target) return async () => null;
  const options = { from: homeAt(source), to: homeAt(target), known: new Map<string, string>(), signal };
  return () => copyFiles({ ...options, onFile: lines.showFiles });
}

async function contents({ store }: OpenedStore): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for (const part of MIGRATION_PARTS) {
    counts[part] = 0;
    for await (const _row of rowsOf(store.migration, part)) counts[part] += 1;
  }
  const running = await runningJobs(store);
  return { ...counts, jobs: (counts['jobs'] ?? 0) - running.length, running: running.length };
}

function printResult(
  args: Args,
  { fromName, toName }: Stores,
  result: MigrationResult,
  files: FilesResult | null,
): number {
  if (args.flag('json')) print(JSON.stringify({ from: fromName, to: toName, ...result, files }));
  else {
    for (const { part, rows, sha256 } of result.parts) print(`${part}: ${rows} equal in both stores, sha256 ${sha256}`);
    if (files !== null) print(`files: ${files.files}, ${bytes(files.bytes)}, all hashes match`);
    print(headline(result, fromName, toName));
    for (const id of result.left) print(`not migrated, still running: ${id}`);
    if (result.left.length > 0) print('run the same command again after they have ended');
  }
  return 0;
}

function headline({ kind }: MigrationResult, from: string, to: string): string {
  if (kind === 'already') return `${from} was migrated to ${to} already; nothing is left to migrate`;
  if (kind === 'rest') return `migrated the remaining jobs from ${from} to ${to}`;
  return `migrated ${from} to ${to}; the old store stays closed and refers to the new one`;
}

function printContents(args: Args, wouldMove: Readonly<Record<string, number>>): number {
  if (args.flag('json')) print(JSON.stringify({ wouldMove }));
  else {
    for (const [part, rows] of Object.entries(wouldMove)) print(`${part}: ${rows}`);
    print('dry run: nothing was migrated');
  }
  return 0;
}

/** Abandons an unfinished migration: reopens a store that is its source, empties a store that is its target. */
async function reopen(address: string): Promise<number> {
  const { store } = await openStoreAt(address, { create: false });
  try {
    const standing = await store.migration.standing();
    if (standing === null || (standing.role === 'target' && standing.state === 'over'))
      throw new LonghaulError('refused', `${redactAddress(address)} is open: it is not being migrated`);
    if (standing.state === 'over')
      throw new LonghaulError(
        'refused',
        `${redactAddress(address)} was migrated to ${standing.other}; to go back: longhaul migrate --from ${standing.other} --to ${redactAddress(address)}`,
      );
    if (standing.role === 'target') await store.migration.clear(standing.move);
    const isOpen = await store.migration.stand(null, await store.migration.standing());
    if (!isOpen) throw new LonghaulError('refused', 'the migration continued in the meantime: run the command again');
    print(`${redactAddress(address)} is open again`);
    return 0;
  } finally {
    await store.close();
  }
}
