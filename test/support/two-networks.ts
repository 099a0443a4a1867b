/**
 * Two networks with one link between them: two network namespaces and a pair of virtual interfaces if they can be
 * created (as root, with iproute2); otherwise the loopback with a proxy as the link, which is reported. The link can be
 * cut and restored.
 */
import { execFileSync } from 'node:child_process';
import type { HttpFaultProxy } from './http-fault-proxy.ts';
import { openHttpFaultProxy } from './http-fault-proxy.ts';

export interface TwoNetworks {
  /** A description for people. */
  readonly words: string;
  /** The prefix of a command that runs it in one network or the other. */
  readonly prefixes: readonly [readonly string[], readonly string[]];
  /** The address at which a node of the second network listens, and how it is called from the first. */
  readonly listen: string;
  readonly port: number;
  addressOf(port: number): Promise<string>;
  /** Nothing gets through until the link is restored; open connections are not notified. */
  cut(): void;
  mend(): void;
  close(): Promise<void>;
}

const PORT = 3333;
const ip = (...args: readonly string[]): void => void execFileSync('ip', args, { stdio: 'pipe' });

export async function openTwoNetworks(): Promise<TwoNetworks> {
  removeOld();
  try {
    return namespaces(`lh-${process.pid}-a`, `lh-${process.pid}-b`);
  } catch (error) {
    return onLoopback(String((error as Error).message).split('\n')[0] ?? '');
  }
}

function namespaces(a: string, b: string): TwoNetworks {
  const [cardA, cardB] = [`lh${process.pid}a`, `lh${process.pid}b`];
  const close = async (): Promise<void> => {
    for (const name of [a, b]) quietly('netns', 'del', name);
  };
  try {
    for (const name of [a, b]) ip('netns', 'add', name);
    ip('link', 'add', cardA, 'netns', a, 'type', 'veth', 'peer', 'name', cardB, 'netns', b);
    for (const [name, card, address] of [
      [a, cardA, '10.231.7.1/24'],
      [b, cardB, '10.231.7.2/24'],
    ] as const) {
      ip('-n', name, 'addr', 'add', address, 'dev', card);
      ip('-n', name, 'link', 'set', card, 'up');
      ip('-n', name, 'link', 'set', 'lo', 'up');
    }
  } catch (error) {
    void close();
    throw error;
  }
  return {
    words: 'two network namespaces',
    prefixes: [
      ['ip', 'netns', 'exec', a],
      ['ip', 'netns', 'exec', b],
    ],
    listen: '10.231.7.2',
    port: PORT,
    addressOf: async (port) => `http://10.231.7.2:${port}/`,
    cut: () => ip('-n', a, 'link', 'set', cardA, 'down'),
    mend: () => ip('-n', a, 'link', 'set', cardA, 'up'),
    close,
  };
}

async function onLoopback(why: string): Promise<TwoNetworks> {
  let proxy: HttpFaultProxy | null = null;
  return {
    words: `the loopback, because no network namespaces could be made (${why})`,
    prefixes: [[], []],
    listen: '127.0.0.1',
    port: 0,
    async addressOf(port) {
      proxy ??= await openHttpFaultProxy(port);
      return `http://127.0.0.1:${proxy.port}/`;
    },
    cut() {
      if (proxy !== null) proxy.isDown = true;
      proxy?.cutAll();
    },
    mend() {
      if (proxy !== null) proxy.isDown = false;
    },
    close: async () => proxy?.close(),
  };
}

/** Removes namespaces of a test that was killed before it could remove them. */
function removeOld(): void {
  const list = quietly('netns', 'list') ?? '';
  for (const [name, pid] of list.matchAll(/^lh-(\d+)-[ab]/gm)) if (!isAlive(Number(pid))) quietly('netns', 'del', name);
}

function quietly(...args: readonly string[]): string | null {
  try {
    return execFileSync('ip', args, { stdio: 'pipe', encoding: 'utf8' });
  } catch {
    return null;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
