/** `longhaul migrate`: a store moves to another one, whole, or says why not; `--reopen` gives a move up. */
import { randomUUID } from 'node:crypto';
import { parseDuration } from '../../../core/input/duration.ts';
import { LonghaulError } from '../../../core/ports/errors.ts';
import { MOVED_PARTS } from '../../../core/ports/migration.ts';
import type { OpenedStore } from '../../../library/store-address.ts';
import { openStoreAt } from '../../../library/store-address.ts';
import { homeAt } from '../../../node/home.ts';
import { rowsOf } from '../../../node/migration/compare-stores.ts';
import type { FilesResult } from '../../../node/migration/copy-files.ts';
import { moveFiles } from '../../../node/migration/copy-files.ts';
import { runningJobs } from '../../../node/migration/left-behind.ts';
import type { MoveResult } from '../../../node/migration/migrate-store.ts';
import { moveStore } from '../../../node/migration/migrate-store.ts';
import { bytes } from '../../../wire/spans.ts';
import { print } from '../../output/screen.ts';
import type { Call } from '../../table/call.ts';
import { UsageError } from '../../table/command.ts';
import { toldToStop } from '../../target/stop-signal.ts';
import type { ProgressLines } from './migration-progress.ts';
import { progressLines } from './migration-progress.ts';

interface Ends {
  readonly from: OpenedStore;
  readonly to: OpenedStore;
  readonly fromName: string;
  readonly toName: string;
}

export async function migrate(call: Call): Promise<number> {
  if (call.positionals.length > 0) throw call.wrong('too many words');
  const [from, to] = [call.text('from'), call.text('to')];
  if (from === undefined) throw call.wrong('--from ADDRESS is missing');
  if (call.flag('reopen')) return reopen(from);
  if (to === undefined) throw call.wrong('--to ADDRESS is missing');
  if (nameOf(from) === nameOf(to)) throw new UsageError(`--from and --to are one and the same store: ${nameOf(from)}`);
  const opened = await openStoreAt(from, { create: false });
  try {
    if (call.flag('dry-run')) return say(call, { wouldMove: await contents(opened) }, 'nothing was moved');
    const target = await openStoreAt(to, {});
    try {
      return await move(call, { from: opened, to: target, fromName: nameOf(from), toName: nameOf(to) });
    } finally {
      await target.store.close();
    }
  } finally {
    await opened.store.close();
  }
}

/** Without user and password, which nobody needs to see who reads where a store went. */
export function nameOf(address: string): string {
  if (!/^(redis|rediss|valkey|valkeys):/i.test(address) || !URL.canParse(address)) return address;
  const url = new URL(address);
  url.username = '';
  url.password = '';
  return url.href;
}

async function move(call: Call, ends: Ends): Promise<number> {
  const told = toldToStop();
  const lines = progressLines(call.flag('json'));
  const bring = filesOf(call, ends, { signal: told.signal, lines });
  try {
    let files: FilesResult | null = null;
    const result = await moveStore({
      from: ends.from.store,
      to: ends.to.store,
      fromName: ends.fromName,
      toName: ends.toName,
      waitMs: waitOf(call),
      leave: call.flag('leave'),
      signal: told.signal,
      now: () => Date.now(),
      newId: () => randomUUID(),
      onProgress: lines.show,
      bringFiles: async () => {
        files = await bring();
      },
    });
    lines.clear();
    return tell(call, ends, result, files);
  } catch (error) {
    if (!told.signal.aborted) throw error;
    lines.clear();
    const where = lines.last === '' ? '' : ` (${lines.last})`;
    throw new LonghaulError(
      'refused',
      `stopped on the way${where}: the same command goes on from here, --reopen gives it up`,
    );
  } finally {
    lines.clear();
    told.release();
  }
}

function waitOf(call: Call): number {
  const wait = call.text('wait');
  const ms = wait === undefined ? 0 : parseDuration(wait);
  if (ms === null) throw new UsageError(`--wait must be a duration such as 10m, not ${wait}`);
  return ms;
}

/** Files belong to the home of a node. Two stores of folders have a home each; else they are named. */
function filesOf(
  call: Call,
  { from, to }: Ends,
  { signal, lines }: { signal: AbortSignal; lines: ProgressLines },
): () => Promise<FilesResult | null> {
  const [source, target] = [call.text('from-home') ?? from.home, call.text('to-home') ?? to.home];
  if (source === null || target === null || source === target) return async () => null;
  const move = { from: homeAt(source), to: homeAt(target), known: new Map<string, string>(), signal };
  return () => moveFiles({ ...move, onFile: lines.showFiles });
}

async function contents({ store }: OpenedStore): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for (const part of MOVED_PARTS) {
    counts[part] = 0;
    for await (const _row of rowsOf(store.migration, part)) counts[part] += 1;
  }
  const running = await runningJobs(store);
  return { ...counts, jobs: (counts['jobs'] ?? 0) - running.length, running: running.length };
}

function tell(call: Call, { fromName, toName }: Ends, result: MoveResult, files: FilesResult | null): number {
  if (call.flag('json')) print(JSON.stringify({ from: fromName, to: toName, ...result, files }));
  else {
    for (const { part, rows, sha256 } of result.parts) print(`${part}: ${rows} equal at both ends, sha256 ${sha256}`);
    if (files !== null) print(`files: ${files.files}, ${bytes(files.bytes)}, each compared by its hash`);
    print(headline(result, fromName, toName));
    for (const id of result.left) print(`left behind until it has ended: ${id}`);
    if (result.left.length > 0) print('run this again to bring them over');
  }
  return 0;
}

function headline({ kind }: MoveResult, from: string, to: string): string {
  if (kind === 'already') return `${from} has moved to ${to} already, and nothing is left there`;
  if (kind === 'rest') return `brought what had been left behind from ${from} to ${to}`;
  return `moved ${from} to ${to}; the old store stays closed and points to the new one`;
}

function say(call: Call, { wouldMove }: { wouldMove: Readonly<Record<string, number>> }, end: string): number {
  if (call.flag('json')) print(JSON.stringify({ wouldMove }));
  else {
    for (const [part, rows] of Object.entries(wouldMove)) print(`${part}: ${rows}`);
    print(end);
  }
  return 0;
}

/** Of a source that is still moving: it is an ordinary store again. Of a target that is being filled: it is emptied. */
async function reopen(address: string): Promise<number> {
  const { store } = await openStoreAt(address, { create: false });
  try {
    const standing = await store.migration.standing();
    if (standing === null || (standing.role === 'target' && standing.state === 'over'))
      throw new LonghaulError('refused', `${nameOf(address)} is in no move: it is open`);
    if (standing.state === 'over')
      throw new LonghaulError(
        'refused',
        `${nameOf(address)} has moved to ${standing.other}, where its jobs are; to bring them back: longhaul migrate --from ${standing.other} --to ${nameOf(address)}`,
      );
    if (standing.role === 'target') await store.migration.clear(standing.move);
    const isOpen = await store.migration.stand(null, await store.migration.standing());
    if (!isOpen) throw new LonghaulError('refused', 'the move went on in the meantime; look again');
    print(`${nameOf(address)} is open again`);
    return 0;
  } finally {
    await store.close();
  }
}
