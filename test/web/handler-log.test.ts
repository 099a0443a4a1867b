/** The log of a TypeScript handler on Redis in the web UI: live while it runs, from a node that has no file of it. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { connect } from '../../src/library/index.ts';
import { NodeBench } from '../node/nodes-bench.ts';
import { hasRedis, startRedis } from '../support/redis-server.ts';
import { WebBench } from './web-bench.ts';

describe.skipIf(!hasRedis)('the log of a handler on Redis', () => {
  const web = new WebBench();

  it('is shown while the job runs and after it', async () => {
    const redis = await startRedis();
    const node = new NodeBench('shows-logs', redis.url);
    onTestFinished(async () => {
      await node.bench.close();
      await redis.stop();
    });
    await node.start();
    await using longhaul = await connect(redis.url);
    const queue = longhaul.queue('typed');
    let finish = (): void => undefined;
    queue.work(async (job) => {
      job.log('the first line');
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      job.log('the last line');
    });
    const { id } = await queue.add(null);
    const { page, pageErrors } = await web.open(new URL(`/q/typed/${id}`, node.url).href);
    const lines = page.getByRole('region', { name: 'Lines of the log' });
    await lines.getByText('the first line').waitFor();
    finish();
    await lines.getByText('the last line').waitFor();
    await page.reload();
    await lines.getByText('the first line').waitFor();
    await lines.getByText('the last line').waitFor();
    expect(await lines.locator('[data-line]').count()).toBe(2);
    expect(pageErrors).toEqual([]);
  });
});
