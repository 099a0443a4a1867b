/** Checks the nodes that share a store: presence, reachability, version and clock. Changes nothing. */
import type { Store } from '../../core/ports/store.ts';
import { localIso, plural } from '../../wire/spans.ts';
import type { Finding } from '../doctor/finding.ts';
import { fine, note, warning } from '../doctor/finding.ts';
import type { Home } from '../home.ts';
import { isProvenEntry } from './node-addresses.ts';
import type { ProvenEntry } from './node-entry.ts';
import { readEntries, stateOf } from './node-entry.ts';
import { knownNodeId } from './node-registry.ts';
import { openNodeSecret } from './node-secret.ts';
import { OtherNodes } from './other-nodes.ts';

export interface CheckedNodes {
  readonly home: Home;
  readonly store: Store;
  /** Version of the checking program. */
  readonly version: string;
}

const ABOUT = 'nodes';
const MAX_SKEW_MS = 1_000;
const TIMEOUT_MS = 5_000;
/** Caller id for a data directory that never had a node. No node has this id. */
const NO_NODE_ID = '00000000-0000-0000-0000-000000000000';

export async function checkNodes({ home, store, version }: CheckedNodes): Promise<readonly Finding[]> {
  const entries = await readEntries(store);
  if (entries.length === 0) return [];
  const id = knownNodeId(home) ?? NO_NODE_ID;
  const own = entries.find((entry) => entry.id === id);
  // Uses the skew that this node has published: measuring it here would write to the store.
  const now = (): number => Date.now() - (own?.stoppedAt === null ? own.clockSkewMs : 0);
  const secret = await openNodeSecret(store.records);
  const others = new OtherNodes({ id, store, secret, now });
  const check = async (entry: ProvenEntry): Promise<readonly Finding[]> =>
    isProvenEntry(secret, entry) ? ofNode(entry, { others, version, now: now() }) : [unproven(entry)];
  try {
    const found = await Promise.all(entries.filter((entry) => entry !== own).map(check));
    const all = [...found.flat(), ...skewOf(own)];
    if (all.length > 0) return all;
    return [fine(ABOUT, `${plural(found.length, 'other node')}: present, same version, correct clock`)];
  } finally {
    others.close();
  }
}

interface CheckContext {
  readonly others: OtherNodes;
  readonly version: string;
  readonly now: number;
}

async function ofNode(entry: ProvenEntry, { others, version, now }: CheckContext): Promise<readonly Finding[]> {
  const state = stateOf(entry, now);
  const since = localIso(entry.stoppedAt ?? entry.seenAt);
  if (state === 'stopped') return [note(ABOUT, `node ${entry.name} is stopped since ${since}`)];
  if (state === 'gone') {
    const cure = `start it again; if it will not return: longhaul nodes forget ${entry.id}`;
    return [warning(ABOUT, `node ${entry.name} is gone since ${since}, with files that only it holds`, cure)];
  }
  return [...(await reachabilityOf(entry, others)), ...skewOf(entry), ...versionOf(entry, version)];
}

async function reachabilityOf(entry: ProvenEntry, others: OtherNodes): Promise<readonly Finding[]> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const reply = await others.askOne(entry, { path: '/api/running/here', signal });
  if (reply.ok) reply.body.destroy();
  if (reply.ok) return [];
  const where = entry.addresses.join(', ') || 'no address';
  const why = signal.aborted
    ? `held by node ${entry.name}, which does not answer within ${TIMEOUT_MS / 1_000} s`
    : reply.why;
  const message = `logs and files ${why} (${where})`;
  return [
    warning(
      ABOUT,
      message,
      'allow connections to it, or set "url" in its node.json to an address that other nodes can reach',
    ),
  ];
}

function skewOf(entry: ProvenEntry | undefined): readonly Finding[] {
  if (entry === undefined || Math.abs(entry.clockSkewMs) <= MAX_SKEW_MS) return [];
  const [seconds, side] = [Math.abs(entry.clockSkewMs) / 1_000, entry.clockSkewMs > 0 ? 'ahead of' : 'behind'];
  const message = `the clock of node ${entry.name} is ${seconds.toFixed(1)} s ${side} the store's`;
  return [warning(ABOUT, message, 'set the clocks of both machines (timedatectl set-ntp true)')];
}

function versionOf({ name, version: theirs }: ProvenEntry, version: string): readonly Finding[] {
  if (theirs === version) return [];
  const message = `node ${name} runs version ${theirs}, this is ${version}`;
  return [warning(ABOUT, message, 'upgrade all nodes to one version, one after the other: scripts keep running')];
}

function unproven({ id, name }: ProvenEntry): Finding {
  const message = `the entry of node ${name} has no valid proof of a node of this store: it is never called`;
  return warning(
    ABOUT,
    message,
    `run longhaul nodes forget ${id} once it is gone, and check who may write to the store`,
  );
}
