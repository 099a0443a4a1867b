/** The recorded answers of Blueque (../recorded) are those that a checkout of the original gives now. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { spawnGuarded } from '../../support/guarded-process.ts';
import { hasRedis, type RedisServer, startRedis } from '../../support/redis-server.ts';
import { bluequeRecording, recordedBlueque } from '../recorded/recordings.ts';
import type { BluequeHost } from './blueque-program.ts';
import { runProgram } from './blueque-program.ts';
import { pathOf } from './checkout.ts';
import { blueque, pythonWithRedis } from './python.ts';

const fixture = join(import.meta.dirname, '../../fixtures/blueque-original.py');

async function hostOriginal(path: string, url: string): Promise<BluequeHost & { end(): Promise<unknown> }> {
  const child = await spawnGuarded(pythonWithRedis() ?? 'python3', [fixture, path, url]);
  child.stderr.resume();
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async call(method, ...args) {
      child.stdin.write(`${JSON.stringify({ id: 1, method, args })}\n`);
      const { value = '{"error":"the original ended"}' } = (await lines.next()) as { value?: string };
      const { answer, error } = JSON.parse(value) as { answer?: unknown; error?: string };
      if (error !== undefined) throw new Error(error);
      return answer;
    },
    end() {
      child.stdin.end();
      return child.ended;
    },
  };
}

const path = pathOf(blueque);
describe.skipIf(path === null)('The original Blueque', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  test.skipIf(!hasRedis)('gives the recorded answers', async () => {
    const host = await hostOriginal(path ?? '', `${redis.url}/0`);
    const answers = await runProgram(host);
    await host.end();
    if (process.env['LONGHAUL_RECORD'] === '1')
      writeFileSync(
        join(import.meta.dirname, '../recorded', bluequeRecording),
        `${JSON.stringify(answers, null, 1)}\n`,
      );
    expect(answers).toEqual(recordedBlueque());
  });
});
