/**
 * A look at the nodes that share the store of a home: whether each can be asked from here, runs the same version, has the
 * right time, and is there at all. Changes nothing, and starts nothing there.
 */
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
  /** Of the program that looks. */
  readonly version: string;
}

const ABOUT = 'nodes';
const MOST_SKEW_MS = 1_000;
const SOON_MS = 5_000;
/** Who asks when this home has never been served: nobody is called so. */
const NOBODY = '00000000-0000-0000-0000-000000000000';

export async function checkNodes({ home, store, version }: CheckedNodes): Promise<readonly Finding[]> {
  const entries = await readEntries(store);
  if (entries.length === 0) return [];
  const id = knownNodeId(home) ?? NOBODY;
  const own = entries.find((entry) => entry.id === id);
  // What this node has measured of the store's clock: to measure it here would write.
  const now = (): number => Date.now() - (own?.stoppedAt === null ? own.clockSkewMs : 0);
  const secret = await openNodeSecret(store.records);
  const others = new OtherNodes({ id, store, secret, now });
  const look = async (entry: ProvenEntry): Promise<readonly Finding[]> =>
    isProvenEntry(secret, entry) ? ofNode(entry, { others, version, now: now() }) : [unproven(entry)];
  try {
    const found = await Promise.all(entries.filter((entry) => entry !== own).map(look));
    const all = [...found.flat(), ...skewOf(own)];
    if (all.length > 0) return all;
    return [fine(ABOUT, `${plural(found.length, 'other node')}: there, of this version, with the right time`)];
  } finally {
    others.close();
  }
}

interface Looking {
  readonly others: OtherNodes;
  readonly version: string;
  readonly now: number;
}

async function ofNode(entry: ProvenEntry, { others, version, now }: Looking): Promise<readonly Finding[]> {
  const state = stateOf(entry, now);
  const since = localIso(entry.stoppedAt ?? entry.seenAt);
  if (state === 'stopped') return [note(ABOUT, `node ${entry.name} is stopped since ${since}`)];
  if (state === 'gone') {
    const cure = `start it again; if it will not come back: longhaul nodes forget ${entry.id}`;
    return [warning(ABOUT, `node ${entry.name} is gone since ${since}, with what it alone holds`, cure)];
  }
  return [...(await reachOf(entry, others)), ...skewOf(entry), ...versionOf(entry, version)];
}

async function reachOf(entry: ProvenEntry, others: OtherNodes): Promise<readonly Finding[]> {
  const signal = AbortSignal.timeout(SOON_MS);
  const reply = await others.askOne(entry, { path: '/api/running/here', signal });
  if (reply.ok) reply.body.destroy();
  if (reply.ok) return [];
  const where = entry.addresses.join(', ') || 'no address';
  const why = signal.aborted ? `held by node ${entry.name}, which does not answer in ${SOON_MS / 1_000} s` : reply.why;
  const words = `logs and files ${why} (${where})`;
  return [warning(ABOUT, words, 'open the way to it, or set "url" in its node.json to where others reach it')];
}

function skewOf(entry: ProvenEntry | undefined): readonly Finding[] {
  if (entry === undefined || Math.abs(entry.clockSkewMs) <= MOST_SKEW_MS) return [];
  const [seconds, side] = [Math.abs(entry.clockSkewMs) / 1_000, entry.clockSkewMs > 0 ? 'ahead of' : 'behind'];
  const words = `the clock of node ${entry.name} is ${seconds.toFixed(1)} s ${side} the store's`;
  return [warning(ABOUT, words, 'set the clocks of both machines (timedatectl set-ntp true)')];
}

function versionOf({ name, version: theirs }: ProvenEntry, version: string): readonly Finding[] {
  if (theirs === version) return [];
  const words = `node ${name} runs version ${theirs}, this is ${version}`;
  return [warning(ABOUT, words, 'bring all nodes to one version, one after the other: scripts go on meanwhile')];
}

function unproven({ id, name }: ProvenEntry): Finding {
  const words = `an entry says that there is a node ${name}, and no node of this store has proven it: it is never asked`;
  return warning(ABOUT, words, `longhaul nodes forget ${id}, once it is gone; see who may write to the store`);
}
