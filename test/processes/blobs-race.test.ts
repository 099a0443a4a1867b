/**
 * Several processes add the same contents while others sweep them as fast as they may. A blob that was added or kept stays
 * readable for the promised time.
 */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openBlobs } from '../../src/files/blobs/open-blobs.ts';
import { type Fixture, type Message, startFixture } from '../support/processes.ts';
import { testSize } from '../support/test-size.ts';
import { aFolder } from './blobs-workbench.ts';

const ADDS = testSize({ small: 250, full: 10_000 });
const TIMEOUT_MS = testSize({ small: 60_000, full: 300_000 });
const PROMISED_MS = 60;

it(
  'Concurrent adds and sweeps of several processes delete no blob within the promised time.',
  async () => {
    const folder = join(await aFolder(), 'blobs');
    const start = (adds: number) => startFixture('blobs-racer.mjs', [folder, String(PROMISED_MS), String(adds)]);
    const sweepers = await Promise.all([start(0), start(0)]);
    const adders = await Promise.all([start(ADDS), start(ADDS)]);
    const ended = await Promise.all(adders.map(whenDone));
    for (const sweeper of sweepers) sweeper.send({ type: 'end' });
    ended.push(...(await Promise.all(sweepers.map(whenDone))));
    const total = (key: string) => ended.reduce((sum, counts) => sum + Number(counts[key]), 0);
    const figures = Object.fromEntries(['added', 'kept', 'checked', 'swept', 'lost'].map((key) => [key, total(key)]));
    process.stdout.write(`\nfigures: race ${JSON.stringify(figures)}\n`);
    expect(figures['lost']).toBe(0);
    expect(figures['checked']).toBeGreaterThan(ADDS / 20);
    expect(figures['swept']).toBeGreaterThan(ADDS / 20);
    expect((await (await openBlobs({ folder })).scrub()).findings).toEqual([]);
  },
  TIMEOUT_MS,
);

async function whenDone(racer: Fixture): Promise<Message> {
  return racer.next(({ type }) => type === 'done', TIMEOUT_MS);
}
