/** The recorded answers of Worqr (../recorded) are those that a checkout of the original gives now. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Message, startFixture } from '../../support/processes.ts';
import { hasRedis, type RedisServer, startRedis } from '../../support/redis-server.ts';
import { recordedWorqr, worqrRecording } from '../recorded/recordings.ts';
import { pathOf } from './checkout.ts';
import type { WorqrEvent, WorqrHost } from './worqr-program.ts';
import { runProgram } from './worqr-program.ts';

async function hostOriginal(path: string, port: number): Promise<WorqrHost> {
  const fixture = await startFixture('worqr-original.mjs', [path, String(port)]);
  let calls = 0;
  return {
    async call(peer, method, ...args) {
      const id = (calls += 1);
      fixture.send({ id, peer, method, args });
      const { answer, error } = await fixture.next((message: Message) => message['id'] === id);
      if (error !== undefined) throw new Error(JSON.stringify(error));
      return answer;
    },
    get events() {
      return fixture.messages.flatMap(({ event }) => (event === undefined ? [] : [event as WorqrEvent]));
    },
  };
}

const worqr = {
  variable: 'WORQR_CHECKOUT',
  system: 'droplit/worqr 1.2.3 with its dependencies installed',
  needs: ['src/worqr.ts', 'node_modules/redis'],
};
const path = pathOf(worqr);
describe.skipIf(path === null)('The original Worqr', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  test.skipIf(!hasRedis)('gives the recorded answers', async () => {
    const answers = await runProgram(await hostOriginal(path ?? '', redis.port));
    if (process.env['LONGHAUL_RECORD'] === '1')
      writeFileSync(join(import.meta.dirname, '../recorded', worqrRecording), `${JSON.stringify(answers, null, 1)}\n`);
    expect(answers).toEqual(recordedWorqr());
  });
});
