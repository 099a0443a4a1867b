/**
 * `longhaul doctor`: checks everything that a node depends on and prints a fix for each problem. Changes nothing. Exits 0
 * if all checks pass, 1 with warnings, 2 with errors.
 */
import { existsSync } from 'node:fs';
import { openBlobs } from '../../../files/blobs/open-blobs.ts';
import type { Finding as BlobFinding } from '../../../files/blobs/scrub-blobs.ts';
import { packageVersion } from '../../../library/package-version.ts';
import { isRedisAddress } from '../../../library/store-address.ts';
import { checkNodes } from '../../../node/cluster/check-nodes.ts';
import { checkHome } from '../../../node/doctor/check-home.ts';
import { checkMachine } from '../../../node/doctor/check-machine.ts';
import { checkOrphans } from '../../../node/doctor/check-orphans.ts';
import { checkOutboxes } from '../../../node/doctor/check-outboxes.ts';
import type { Finding, FindingLevel } from '../../../node/doctor/finding.ts';
import { fault, fine, warning } from '../../../node/doctor/finding.ts';
import type { Home } from '../../../node/home.ts';
import { daemonFile } from '../../../node/node-settings.ts';
import { PROBLEM_RECORD, type QueueProblem } from '../../../node/queues/queue-problem.ts';
import { plural } from '../../../wire/spans.ts';
import { readIfExists } from '../../daemon/serve-settings.ts';
import { progressBar } from '../../output/progress.ts';
import { cell, paint, print, printJson, screenOf } from '../../output/screen.ts';
import type { Args } from '../../table/args.ts';
import { homeOf } from '../../table/command.ts';
import { inspectNode } from './doctor-node.ts';
import type { StoreInspection } from './doctor-store.ts';
import { inspectDatabase, inspectServer } from './doctor-store.ts';

const EXIT: Readonly<Record<FindingLevel, number>> = { ok: 0, note: 0, warning: 1, error: 2 };
const COLOUR = { ok: 'green', note: 'dim', warning: 'yellow', error: 'red' } as const;

export async function doctor(args: Args): Promise<number> {
  if (args.positionals.length > 0) throw args.usageError('too many arguments');
  const home = homeOf(args.text('home'));
  const options = { store: args.text('store'), isDeep: args.flag('deep'), isScrubbing: args.flag('scrub') };
  const findings = await examine(home, options);
  const exit = Math.max(...findings.map(({ level }) => EXIT[level]));
  if (args.flag('json')) printJson({ home: home.root, exit, findings });
  else show(findings);
  return exit;
}

interface DoctorOptions {
  readonly store: string | undefined;
  readonly isDeep: boolean;
  readonly isScrubbing: boolean;
}

async function examine(home: Home, given: DoctorOptions): Promise<readonly Finding[]> {
  if (!existsSync(home.queues))
    return [
      fault(
        'home',
        `${home.root} is not a data directory`,
        'choose one with --home or LONGHAUL_HOME, or create one with longhaul serve',
      ),
    ];
  const ofHome = await checkHome(home, process.getuid?.() ?? 0);
  const node = await inspectNode(home);
  const store = await inspectStore(home, given);
  const now = Date.now();
  try {
    return [
      ...ofHome,
      ...node.findings,
      ...store.findings,
      ...checkMachine({ now, storeSeenAt: store.seenAt, pid: node.pid ?? 'self' }),
      ...(store.jobs === null ? [] : await checkOrphans(home, store.jobs, now)),
      ...(store.jobs === null ? [] : await queueProblems(store.jobs)),
      ...(store.jobs === null ? [] : await checkOutboxes(store.jobs, now)),
      ...(store.shared === null ? [] : await checkNodes({ home, store: store.shared, version: packageVersion() })),
      ...(given.isScrubbing ? await scrub(home) : []),
    ];
  } finally {
    await store.close();
  }
}

async function inspectStore(home: Home, { store, isDeep }: DoctorOptions): Promise<StoreInspection> {
  const address = store ?? process.env['LONGHAUL_STORE'] ?? storeInFile(home);
  const isServer = address !== null && isRedisAddress(address);
  return isServer ? inspectServer(address) : inspectDatabase(home, { isDeep });
}

/** Ignores an invalid node.json, which is a finding of its own. */
function storeInFile({ settings }: Home): string | null {
  try {
    return daemonFile(readIfExists(settings)).store;
  } catch {
    return null;
  }
}

async function queueProblems(jobs: NonNullable<StoreInspection['jobs']>): Promise<readonly Finding[]> {
  const records = await jobs.records(PROBLEM_RECORD);
  return records.map(({ key, value }) => {
    const { problem, host } = JSON.parse(value) as QueueProblem;
    return warning(
      'queues',
      `queue ${key.split('/')[0]} starts no jobs on ${host}: ${problem}`,
      'correct the script or the settings file of the queue',
    );
  });
}

async function scrub({ blobs: folder }: Home): Promise<readonly Finding[]> {
  if (!existsSync(folder)) return [];
  const blobs = await openBlobs({ folder });
  const bar = progressBar('attachments');
  try {
    const {
      findings,
      blobs: count,
      bytes,
    } = await blobs.scrub({ onProgress: (done) => bar.onBytes(done.bytes, done.bytes) });
    return findings.length === 0
      ? [fine('attachments', `${count} attachments, ${bytes} bytes: all hashes match`)]
      : findings.map(blobFinding);
  } finally {
    bar.clear();
    await blobs.close();
  }
}

function blobFinding({ kind, path }: BlobFinding): Finding {
  switch (kind) {
    case 'damaged':
      return fault('attachments', `blobs/${path} is damaged`, 'restore it from a backup, or attach the file again');
    case 'foreign':
      return warning('attachments', `blobs/${path} is not a file of Longhaul`, 'move it to another directory');
    case 'open':
      return warning('attachments', `other users can read blobs/${path}`, `chmod 0600 blobs/${path}`);
  }
}

function show(findings: readonly Finding[]): void {
  const screen = screenOf();
  for (const { about, level, message, cure } of findings) {
    print(`${paint(screen, COLOUR[level], level.padEnd(7))} ${about.padEnd(12)} ${cell(message)}`);
    if (cure !== '') print(`${' '.repeat(21)}→ ${cure}`);
  }
  const count = (wanted: FindingLevel): number => findings.filter(({ level }) => level === wanted).length;
  print(`\n${plural(count('error'), 'error')}, ${plural(count('warning'), 'warning')}`);
}
