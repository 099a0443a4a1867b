/** `longhaul nodes`: the machines that share the store, and what can be told one of them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { didYouMean } from '../../../core/input/did-you-mean.ts';
import { LonghaulError } from '../../../core/ports/errors.ts';
import type { Store } from '../../../core/ports/store.ts';
import { forgetNode, listNodes, orderDrain, pickNode } from '../../../node/cluster/list-nodes.ts';
import { readStoreTime } from '../../../schedules/store-time.ts';
import type { NodeView } from '../../../wire/node-view.ts';
import { age, bytes, plural, span } from '../../../wire/spans.ts';
import type { Column } from '../../output/columns.ts';
import { table } from '../../output/columns.ts';
import { print, printJson, remark, screenOf } from '../../output/screen.ts';
import type { Call } from '../../table/call.ts';
import { withTarget } from '../../target/open-target.ts';
import { toldToStop } from '../../target/stop-signal.ts';

const VERBS = ['drain', 'resume', 'forget'] as const;
const LOOK_EVERY_MS = 500;

export async function nodes(call: Call): Promise<number> {
  const [verb, word, ...more] = call.positionals;
  if (more.length > 0) throw call.wrong('too many words');
  if (verb === undefined) return withTarget(call, ({ longhaul }) => list(call, longhaul.store));
  const known = VERBS.find((each) => each === verb);
  if (known === undefined) throw call.wrong(`nodes ${verb} is not known${didYouMean(verb, VERBS)}`);
  if (word === undefined) throw call.wrong('NODE is missing');
  return withTarget(call, ({ longhaul }) => ACTS[known](call, longhaul.store, word));
}

const ACTS: Readonly<Record<(typeof VERBS)[number], (call: Call, store: Store, word: string) => Promise<number>>> = {
  async drain(call, store, word) {
    const { id, name } = await find(store, word);
    await orderDrain(store, id, { isDraining: true });
    if (call.flag('wait')) return waitUntilEmpty(call, store, { id, name });
    return said(call, { id, name }, 'begins nothing more; what runs there ends');
  },
  async resume(call, store, word) {
    const { id, name } = await find(store, word);
    await orderDrain(store, id, { isDraining: false });
    return said(call, { id, name }, 'takes work again');
  },
  async forget(call, store, word) {
    const node = await find(store, word);
    const answer = await forgetNode(store, node);
    if (!answer.ok) throw new LonghaulError('refused', answer.refusal.message);
    return said(call, node, 'is forgotten');
  },
};

function said(call: Call, { id, name }: { id: string; name: string }, words: string): number {
  if (call.flag('json')) printJson({ id, name });
  else print(`node ${name} ${words}`);
  return 0;
}

async function waitUntilEmpty(call: Call, store: Store, { id, name }: { id: string; name: string }): Promise<number> {
  const { signal, release } = toldToStop();
  try {
    for (;;) {
      const { state, held } = await find(store, id);
      if (held.length === 0 && state !== 'up') return said(call, { id, name }, 'is drained: nothing of it runs');
      if (signal.aborted) {
        remark(`longhaul: ${plural(held.length, 'job')} of it still run; it stays drained until longhaul nodes resume`);
        return 1;
      }
      await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    release();
  }
}

async function find(store: Store, word: string): Promise<NodeView> {
  const found = pickNode(await listNodes(store, await nowOf(store)), word);
  if (found.ok) return found.node;
  throw new LonghaulError('refused', `${found.refusal.message}: longhaul nodes lists them`);
}

/** The store's time is learned by writing to it; who may only look goes by this machine's clock. */
const nowOf = (store: Store): Promise<number> => readStoreTime(store.records).catch(() => Date.now());

async function list(call: Call, store: Store): Promise<number> {
  const now = await nowOf(store);
  const found = await listNodes(store, now);
  if (call.flag('json')) printJson(found);
  else if (found.length === 0) remark('longhaul: no node serves this store');
  else for (const line of table(columns(now), found, screenOf())) print(line);
  return 0;
}

function columns(now: number): Column<NodeView>[] {
  return [
    { title: 'NODE', isWhole: true, of: ({ name }) => name },
    { title: 'ID', isWhole: true, of: ({ id }) => id.slice(0, 8) },
    { title: 'STATE', isWhole: true, of: (node) => ({ text: stateWords(node, now), colour: colourOf(node) }) },
    { title: 'RUNNING', isWhole: true, of: ({ running, slots }) => `${running} of ${slots}` },
    { title: 'LOAD', isWhole: true, of: ({ load }) => (load[0] ?? 0).toFixed(1) },
    { title: 'MEMORY FREE', isWhole: true, of: ({ memory }) => bytes(memory.free) },
    { title: 'DISK FREE', isWhole: true, of: ({ disk }) => (disk === null ? '' : bytes(disk.free)) },
    { title: 'CLOCK', isWhole: true, of: ({ clockSkewMs }) => skewWords(clockSkewMs) },
    { title: 'VERSION', isWhole: true, of: ({ version }) => version },
    { title: 'QUEUES', of: ({ queues }) => queues.map(({ queue }) => queue).join(', ') },
    { title: 'HOLDS', of: heldWords },
  ];
}

function stateWords({ state, goneAt }: NodeView, now: number): string {
  return goneAt === null ? state : `${state} ${age(goneAt, now)}`;
}

function colourOf({ state }: NodeView): 'green' | 'yellow' | 'red' {
  if (state === 'up') return 'green';
  return state === 'gone' ? 'red' : 'yellow';
}

function skewWords(ms: number): string {
  if (ms === 0) return '';
  return `${span(Math.abs(ms))} ${ms > 0 ? 'ahead' : 'behind'}`;
}

/** Of one that is gone: what nobody else may have. */
function heldWords({ goneAt, held, holds }: NodeView): string {
  if (goneAt === null) return '';
  const running = held.length === 0 ? [] : [`${plural(held.length, 'running job')} (${held.slice(0, 3).join(', ')})`];
  const files =
    holds === null ? [] : [`files of ${plural(holds.jobs, 'job')}`, plural(holds.attachments, 'attachment')];
  return [...running, ...files].join(', ');
}
