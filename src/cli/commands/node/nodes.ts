/** `longhaul nodes`: lists, drains, resumes or forgets the nodes that share the store. */
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
import { print, printJson, printNotice, screenOf } from '../../output/screen.ts';
import type { Args } from '../../table/args.ts';
import { withTarget } from '../../target/open-target.ts';
import { listenForStop } from '../../target/stop-signal.ts';

const VERBS = ['drain', 'resume', 'forget'] as const;
const POLL_MS = 500;

export async function nodes(args: Args): Promise<number> {
  const [verb, word, ...more] = args.positionals;
  if (more.length > 0) throw args.usageError('too many arguments');
  if (verb === undefined) return withTarget(args, ({ longhaul }) => list(args, longhaul.store));
  const known = VERBS.find((each) => each === verb);
  if (known === undefined) throw args.usageError(`unknown subcommand: nodes ${verb}${didYouMean(verb, VERBS)}`);
  if (word === undefined) throw args.usageError('NODE is missing');
  return withTarget(args, ({ longhaul }) => ACTIONS[known](args, longhaul.store, word));
}

const ACTIONS: Readonly<Record<(typeof VERBS)[number], (args: Args, store: Store, word: string) => Promise<number>>> = {
  async drain(args, store, word) {
    const { id, name } = await find(store, word);
    await orderDrain(store, id, { isDraining: true });
    if (args.flag('wait')) return waitUntilEmpty(args, store, { id, name });
    return printNode(args, { id, name }, 'is draining: it starts no more jobs, running jobs finish');
  },
  async resume(args, store, word) {
    const { id, name } = await find(store, word);
    await orderDrain(store, id, { isDraining: false });
    return printNode(args, { id, name }, 'is resumed: it starts jobs again');
  },
  async forget(args, store, word) {
    const node = await find(store, word);
    const answer = await forgetNode(store, node);
    if (!answer.ok) throw new LonghaulError('refused', answer.refusal.message);
    return printNode(args, node, 'is forgotten');
  },
};

function printNode(args: Args, { id, name }: { id: string; name: string }, status: string): number {
  if (args.flag('json')) printJson({ id, name });
  else print(`node ${name} ${status}`);
  return 0;
}

async function waitUntilEmpty(args: Args, store: Store, { id, name }: { id: string; name: string }): Promise<number> {
  const { signal, release } = listenForStop();
  try {
    for (;;) {
      const { state, held } = await find(store, id);
      if (held.length === 0 && state !== 'up') return printNode(args, { id, name }, 'is drained: it runs no jobs');
      if (signal.aborted) {
        printNotice(
          `longhaul: ${plural(held.length, 'job')} still running; the node drains until longhaul nodes resume ${name}`,
        );
        return 1;
      }
      await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    release();
  }
}

async function find(store: Store, word: string): Promise<NodeView> {
  const found = pickNode(await listNodes(store, await nowOf(store)), word);
  if (found.ok) return found.node;
  throw new LonghaulError('refused', `${found.refusal.message}: longhaul nodes lists the nodes`);
}

/** Reading the store's time needs a write; a caller that may only read uses the clock of this machine. */
const nowOf = (store: Store): Promise<number> => readStoreTime(store.records).catch(() => Date.now());

async function list(args: Args, store: Store): Promise<number> {
  const now = await nowOf(store);
  const found = await listNodes(store, now);
  if (args.flag('json')) printJson(found);
  else if (found.length === 0) printNotice('longhaul: no node serves this store');
  else for (const line of table(columns(now), found, screenOf())) print(line);
  return 0;
}

function columns(now: number): Column<NodeView>[] {
  return [
    { title: 'NODE', isWhole: true, of: ({ name }) => name },
    { title: 'ID', isWhole: true, of: ({ id }) => id.slice(0, 8) },
    { title: 'STATE', isWhole: true, of: (node) => ({ text: stateText(node, now), colour: colourOf(node) }) },
    { title: 'RUNNING', isWhole: true, of: ({ running, slots }) => `${running} of ${slots}` },
    { title: 'LOAD', isWhole: true, of: ({ load }) => (load[0] ?? 0).toFixed(1) },
    { title: 'MEMORY FREE', isWhole: true, of: ({ memory }) => bytes(memory.free) },
    { title: 'DISK FREE', isWhole: true, of: ({ disk }) => (disk === null ? '' : bytes(disk.free)) },
    { title: 'CLOCK', isWhole: true, of: ({ clockSkewMs }) => skewText(clockSkewMs) },
    { title: 'VERSION', isWhole: true, of: ({ version }) => version },
    { title: 'QUEUES', of: ({ queues }) => queues.map(({ queue }) => queue).join(', ') },
    { title: 'HOLDS', of: heldText },
  ];
}

function stateText({ state, goneAt }: NodeView, now: number): string {
  return goneAt === null ? state : `${state} ${age(goneAt, now)}`;
}

function colourOf({ state }: NodeView): 'green' | 'yellow' | 'red' {
  if (state === 'up') return 'green';
  return state === 'gone' ? 'red' : 'yellow';
}

function skewText(ms: number): string {
  if (ms === 0) return '';
  return `${span(Math.abs(ms))} ${ms > 0 ? 'ahead' : 'behind'}`;
}

/** Returns what a lost node still holds: its running jobs, and files that may exist nowhere else. */
function heldText({ goneAt, held, holds }: NodeView): string {
  if (goneAt === null) return '';
  const running = held.length === 0 ? [] : [`${plural(held.length, 'running job')} (${held.slice(0, 3).join(', ')})`];
  const files =
    holds === null ? [] : [`files of ${plural(holds.jobs, 'job')}`, plural(holds.attachments, 'attachment')];
  return [...running, ...files].join(', ');
}
