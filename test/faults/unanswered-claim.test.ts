/** A claim whose answer is lost, and whose first repeats do not reach the server: its leases are still used. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { connect } from '../../src/library/index.ts';
import { openCuttingProxy } from '../support/cutting-proxy.ts';
import { describeWithRedis, startRedis } from '../support/redis-server.ts';
import { printFigures, until } from './fault-environment.ts';

const OUTAGE_MS = 500;

describeWithRedis('a claim whose answer was lost just before an outage', () => {
  it('is repeated until it is answered, and its job runs as the first attempt', async () => {
    const redis = await startRedis();
    const proxy = await openCuttingProxy(redis.port);
    const [direct, cut] = [await connect(redis.url), await connect(proxy.url)];
    onTestFinished(async () => {
      await Promise.all([direct.close(), cut.close()]);
      await proxy.close();
      await redis.stop();
    });
    const work = cut.queue<null, number>('q').work((job) => job.attempt);
    // One job first, so that the server knows the script: a lost NOSCRIPT answer would test nothing.
    expect(await direct.queue<null, number>('q').run(null)).toBe(1);

    // The pause withdraws a claim that waits at the server: it was sent before replies are lost.
    work.pause();
    await sleep(OUTAGE_MS);
    proxy.decide = ({ command }) => (command.startsWith('EVAL') ? 'lose-reply' : 'pass');
    const job = await direct.queue<null, number>('q').add(null);
    work.resume();
    await until('it is claimed', 30_000, async () => ((await direct.find(job.id))?.state === 'running' ? true : null));
    proxy.mode = 'down';
    proxy.decide = () => 'pass';
    await sleep(OUTAGE_MS);
    proxy.mode = 'open';
    const openedAt = performance.now();
    // A forgotten lease would last for a minute.
    expect(await job.finished({ signal: AbortSignal.timeout(30_000) })).toBe(1);
    printFigures('an unanswered claim', { attempt: 1, doneAfterMs: performance.now() - openedAt, cuts: proxy.cuts });
  });
});
