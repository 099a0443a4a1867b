/**
 * Helpers for tests of the daemon: `longhaul serve` as a process, with a data directory that it creates, called over
 * HTTP.
 */
import { rmSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { nodeOn } from '../../src/node/node-lock.ts';
import { killQuietly } from '../processes/runner-workbench.ts';
import { Bench, type Served } from '../processes/scripts-workbench.ts';

/** Scoped to one test: its processes end with it, including scripts that outlive their node. */
export function aBench(): Bench {
  const bench = new Bench();
  onTestFinished(() => bench.close());
  return bench;
}

/** A data directory that does not exist yet: the first `serve` creates it. */
export function aNewHome(): Bench {
  const bench = aBench();
  rmSync(bench.home, { recursive: true });
  return bench;
}

/** For a node that was started through another process, which may end before it. */
export function endNodeOf(home: string): void {
  const pid = nodeOn(join(home, 'node.lock'));
  if (pid !== null) killQuietly(pid);
}

export async function urlOf(served: Served): Promise<string> {
  const line = await served.says('web UI and API');
  return line.trim().split(/\s+/).at(-1) ?? '';
}

export interface Answer {
  readonly status: number;
  readonly text: string;
}

export async function get(url: string, path: string): Promise<Answer> {
  const response = await fetch(new URL(path, url));
  return { status: response.status, text: await response.text() };
}

export async function post(url: string, path: string, body: unknown): Promise<Answer> {
  const response = await fetch(new URL(path, url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

export function getOverSocket(home: string, path: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath: join(home, 'node.sock'), path, headers: { host: 'localhost' } }, (response) => {
      let text = '';
      response.on('data', (piece: Buffer) => (text += piece.toString()));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    asked.on('error', reject);
    asked.end();
  });
}

/** Returns the value of one metric; undefined when it is missing. */
export function figure(text: string, name: string, labels = ''): number | undefined {
  const line = text.split('\n').find((each) => each.startsWith(`${name}${labels} `));
  return line === undefined ? undefined : Number(line.split(' ').at(-1));
}
