/**
 * Handles that keep a process alive: timers, sockets, servers, watchers, threads. A test that starts and stops
 * something asserts that it leaves none of them open.
 */
import { createHook } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';

const KINDS = new Set([
  'FSEVENTWRAP',
  'MESSAGEPORT',
  'PIPESERVERWRAP',
  'PIPEWRAP',
  'PROCESSWRAP',
  'STATWATCHER',
  'TCPSERVERWRAP',
  'TCPWRAP',
  'TLSWRAP',
  'Timeout',
  'UDPWRAP',
  'WORKER',
]);
const SETTLE_MS = 2_000;

interface Handle {
  readonly kind: string;
  readonly resource: { hasRef?(): boolean };
  /** Where it was opened. */
  readonly stack: string;
}

/** Runs the work and returns the handles that it leaves open, each with the place where it was opened. */
export async function handlesLeftBy(work: () => Promise<unknown>): Promise<readonly string[]> {
  const handles = new Map<number, Handle>();
  const hook = createHook({
    init(id, kind, _trigger, resource) {
      if (KINDS.has(kind)) handles.set(id, { kind, resource, stack: new Error('opened').stack ?? '' });
    },
    destroy: (id) => void handles.delete(id),
  }).enable();
  try {
    await work();
    const until = performance.now() + SETTLE_MS;
    for (;;) {
      const left = [...handles.values()].filter(isOurs).map(({ kind, stack }) => `${kind} of ${placesOf(stack)}`);
      if (left.length === 0 || performance.now() > until) return left;
      // Some are closing: that takes a few turns of the event loop.
      await nextTurn();
    }
  } finally {
    hook.disable();
  }
}

/** Handles that Longhaul's code opened and that keep the process alive: not those of vitest or of a test itself. */
function isOurs({ resource, stack }: Handle): boolean {
  return resource.hasRef?.() !== false && /\/(src|dist)\//.test(stack.replaceAll(/node_modules\/\S*/g, ''));
}

function placesOf(stack: string): string {
  const lines = stack.split('\n').filter((line) => /\/(src|dist|test|node_modules)\//.test(line));
  return lines
    .slice(0, 3)
    .map((line) => line.trim().replace(/^at /, ''))
    .join(' < ');
}
