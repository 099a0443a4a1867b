/**
 * `longhaul doctor`: looks at everything that a node stands on and says, for whatever is not right, what to do. It
 * changes nothing. Exits 0 when all is well, 1 with warnings, 2 with errors.
 */
import { existsSync } from 'node:fs';
import { openBlobs } from '../../../files/blobs/open-blobs.ts';
import type { Finding as BlobFinding } from '../../../files/blobs/scrub-blobs.ts';
import { isRedisAddress } from '../../../library/store-address.ts';
import { checkNodes } from '../../../node/cluster/check-nodes.ts';
import { checkHome } from '../../../node/doctor/check-home.ts';
import { checkMachine } from '../../../node/doctor/check-machine.ts';
import { checkOrphans } from '../../../node/doctor/check-orphans.ts';
import type { Finding, FindingLevel } from '../../../node/doctor/finding.ts';
import { fault, fine, warning } from '../../../node/doctor/finding.ts';
import type { Home } from '../../../node/home.ts';
import { daemonFile } from '../../../node/node-settings.ts';
import { PROBLEM_RECORD, type QueueProblem } from '../../../node/queues/queue-problem.ts';
import { readIfThere } from '../../daemon/serve-settings.ts';
import { cell, paint, print, printJson, screenOf } from '../../output/screen.ts';
import { versionOfPackage } from '../../package-version.ts';
import type { Call } from '../../table/call.ts';
import { homeOf } from '../../table/command.ts';
import { progressBar } from '../jobs/send-files.ts';
import { lookAtNode } from './doctor-node.ts';
import type { StoreLook } from './doctor-store.ts';
import { lookAtDatabase, lookAtServer } from './doctor-store.ts';

const EXIT: Readonly<Record<FindingLevel, number>> = { ok: 0, note: 0, warning: 1, error: 2 };
const COLOUR = { ok: 'green', note: 'dim', warning: 'yellow', error: 'red' } as const;

export async function doctor(call: Call): Promise<number> {
  if (call.positionals.length > 0) throw call.wrong('too many words');
  const home = homeOf(call.text('home'));
  const how = { store: call.text('store'), isDeep: call.flag('deep'), isScrubbing: call.flag('scrub') };
  const findings = await examine(home, how);
  const exit = Math.max(...findings.map(({ level }) => EXIT[level]));
  if (call.flag('json')) printJson({ home: home.root, exit, findings });
  else show(findings);
  return exit;
}

interface Given {
  readonly store: string | undefined;
  readonly isDeep: boolean;
  readonly isScrubbing: boolean;
}

async function examine(home: Home, given: Given): Promise<readonly Finding[]> {
  if (!existsSync(home.queues))
    return [
      fault(
        'home',
        `${home.root} is no home folder`,
        'name one by --home or LONGHAUL_HOME; longhaul serve makes a new one',
      ),
    ];
  const ofHome = await checkHome(home, process.getuid?.() ?? 0);
  const node = await lookAtNode(home);
  const store = await lookAtStore(home, given);
  const now = Date.now();
  try {
    return [
      ...ofHome,
      ...node.findings,
      ...store.findings,
      ...checkMachine({ now, storeSeenAt: store.seenAt, pid: node.pid ?? 'self' }),
      ...(store.jobs === null ? [] : await checkOrphans(home, store.jobs, now)),
      ...(store.jobs === null ? [] : await queueProblems(store.jobs)),
      ...(store.shared === null ? [] : await checkNodes({ home, store: store.shared, version: versionOfPackage() })),
      ...(given.isScrubbing ? await scrub(home) : []),
    ];
  } finally {
    await store.close();
  }
}

async function lookAtStore(home: Home, { store, isDeep }: Given): Promise<StoreLook> {
  const address = store ?? process.env['LONGHAUL_STORE'] ?? storeInFile(home);
  const isServer = address !== null && isRedisAddress(address);
  return isServer ? lookAtServer(address) : lookAtDatabase(home, { isDeep });
}

/** A node.json that is wrong is a finding of its own. */
function storeInFile({ settings }: Home): string | null {
  try {
    return daemonFile(readIfThere(settings)).store;
  } catch {
    return null;
  }
}

async function queueProblems(jobs: NonNullable<StoreLook['jobs']>): Promise<readonly Finding[]> {
  const records = await jobs.records(PROBLEM_RECORD);
  return records.map(({ key, value }) => {
    const { problem, host } = JSON.parse(value) as QueueProblem;
    return warning(
      'queues',
      `queue ${key.split('/')[0]} starts nothing on ${host}: ${problem}`,
      'correct its script or its file',
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
      ? [fine('attachments', `${count} attachments, ${bytes} bytes, all as they were`)]
      : findings.map(blobFinding);
  } finally {
    bar.clear();
    await blobs.close();
  }
}

function blobFinding({ kind, path }: BlobFinding): Finding {
  switch (kind) {
    case 'damaged':
      return fault('attachments', `blobs/${path} is damaged`, 'bring it back from a backup, or attach the file again');
    case 'foreign':
      return warning('attachments', `blobs/${path} is not Longhaul's`, 'move it elsewhere');
    case 'open':
      return warning('attachments', `others may read blobs/${path}`, `chmod 0600 blobs/${path}`);
  }
}

function show(findings: readonly Finding[]): void {
  const screen = screenOf();
  for (const { about, level, message, cure } of findings) {
    print(`${paint(screen, COLOUR[level], level.padEnd(7))} ${about.padEnd(12)} ${cell(message)}`);
    if (cure !== '') print(`${' '.repeat(21)}→ ${cure}`);
  }
  const count = (wanted: FindingLevel): number => findings.filter(({ level }) => level === wanted).length;
  print(`\n${count('error')} errors, ${count('warning')} warnings`);
}
