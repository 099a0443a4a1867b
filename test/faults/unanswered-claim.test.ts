/** A claim whose answer was lost, and whose repeats found no way to the server at first: the leases it was given are not forgotten. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { connect } from '../../src/library/index.ts';
import { openCuttingProxy } from '../support/cutting-proxy.ts';
import { describeWithRedis, startRedis } from '../support/redis-server.ts';
import { printFigures, until } from './fault-environment.ts';

const AWAY_MS = 500;

describeWithRedis('a claim whose answer was lost just before the server went away', () => {
  it('is repeated until it is answered, and its job runs as the first attempt', async () => {
    const redis = await startRedis();
    const proxy = await openCuttingProxy(redis.port);
    const [direct, cut] = [await connect(redis.url), await connect(proxy.url)];
    onTestFinished(async () => {
      await Promise.all([direct.close(), cut.close()]);
      await proxy.close();
      await redis.stop();
    });
    cut.queue<null, number>('q').work((job) => job.attempt);
    // One job first: a script that the server does not know yet does nothing when its answer is lost.
    expect(await direct.queue<null, number>('q').run(null)).toBe(1);

    proxy.decide = ({ command }) => (command.startsWith('EVAL') ? 'lose-reply' : 'pass');
    const job = await direct.queue<null, number>('q').add(null);
    await until('it is claimed', 30_000, async () => ((await direct.find(job.id))?.state === 'running' ? true : null));
    proxy.mode = 'down';
    proxy.decide = () => 'pass';
    await sleep(AWAY_MS);
    proxy.mode = 'open';
    const openedAt = performance.now();
    // A forgotten lease would last for a minute.
    expect(await job.finished({ signal: AbortSignal.timeout(30_000) })).toBe(1);
    printFigures('an unanswered claim', { attempt: 1, doneAfterMs: performance.now() - openedAt, cuts: proxy.cuts });
  });
});
