/**
 * When the SQLite store syncs: every call before it is answered, except a claim whose attempts end with the caller's
 * process. Such a claim is synced within a second, and before anything that depends on it. A power cut before that undoes
 * it: the job runs again under a new token.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { canMount, withSmallDisk } from '../chaos/small-disk.ts';
import { aBench, post, urlOf } from '../node/serve-bench.ts';
import { itIf } from '../support/it-if.ts';
import { compileLibrary, compileProgram, hasCompiler } from '../support/preload-library.ts';
import { type Message, startFixture } from '../support/processes.ts';
import { isFullSize } from '../support/test-size.ts';
import { aFolder } from './fault-environment.ts';

const CLAIMS = 10;

function aCounter() {
  const folder = aFolder();
  const file = join(folder, 'syncs');
  const env = { LD_PRELOAD: compileLibrary('count-syncs', folder), SYNC_COUNT: file };
  return { folder, env, syncs: () => statSync(file).size };
}

describe.skipIf(!hasCompiler)('the syncs of a SQLite store', () => {
  it('come before each answer, except that of a claim for the own process, which is synced within a second', async () => {
    const { folder, env } = aCounter();
    const fixture = await startFixture('count-syncs.mjs', [join(folder, 'home')], { env });
    await fixture.next(({ type }) => type === 'done');
    const counts = fixture.messages.flatMap(({ name, syncs }) => (name === undefined ? [] : [[name, syncs]]));
    expect(counts).toEqual([
      ['add', 1],
      ['claim that may be synced later', 0],
      ['within a second of it', 1],
      ['settle', 1],
      ['settle beside a claim that may be synced later', 1],
      ['claim', 1],
      ['log of an attempt that is not synced', 1],
      ['claim that ends a lost attempt', 1],
      ['add while another engine has the file open', 1],
      ['read of what another engine added', 1],
      ['second read of it', 0],
      ['add of a job that another engine added', 1],
    ]);
  });

  itIf(isFullSize)('come before the answer to every claim over HTTP', async () => {
    const bench = aBench();
    const { env, syncs } = aCounter();
    const url = await urlOf(await bench.serve([], env));
    const argument = Array.from({ length: CLAIMS }, (_, each) => ({ id: `job-${each}`, queue: 'mail', data: '1' }));
    await post(url, '/api/store/add', { argument });
    const before = syncs();
    for (const { id } of argument) {
      const claim = { worker: 'w', queues: ['mail'], limit: 1, requestId: id };
      const { status } = await post(url, '/api/store/claim', { argument: claim });
      expect(status).toBe(200);
    }
    expect(syncs() - before).toBeGreaterThanOrEqual(CLAIMS);
  });
});

interface Cut {
  readonly held: { readonly attempt: number; readonly token: number };
  readonly found: Message;
}

function cutAfterClaims(): Readonly<Record<string, Cut>> {
  const folder = aFolder();
  const [image, disk] = [join(folder, 'disk.img'), join(folder, 'disk')];
  mkdirSync(disk);
  const fixture = join(import.meta.dirname, '../fixtures/cut-claims.mjs');
  const program = [process.execPath, fixture, 'drive', compileProgram('power-cut', folder), image, disk];
  const [file = '', ...args] = withSmallDisk(image, disk, program);
  const lines = execFileSync(file, args, { encoding: 'utf8' }).trim().split('\n');
  return Object.fromEntries(lines.map((line) => JSON.parse(line)).map(({ name, ...cut }) => [name, cut]));
}

describe.skipIf(!hasCompiler || !canMount())('a claim that is synced later', () => {
  it('is undone by a power cut, and its token is not given out again; one with a log, one that was settled, and a killed process, lose nothing', () => {
    const { claim, log, settled, killed } = cutAfterClaims();
    expect(claim?.held.attempt).toBe(1);
    expect(claim?.found).toMatchObject({ state: 'waiting', attempt: 0, stale: false });
    expect(claim?.found['next']).toBeGreaterThan(claim?.held.token ?? Number.POSITIVE_INFINITY);
    expect(log?.found).toMatchObject({ state: 'running', attempt: 1, token: log?.held.token });
    expect(settled?.found).toMatchObject({ state: 'done', attempt: 1 });
    expect(killed?.found).toMatchObject({ state: 'running', attempt: 1, token: killed?.held.token });
  });
});
