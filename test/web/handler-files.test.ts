/** The files of a TypeScript job on Redis in the web UI: in the data directory of the node, and sent to the node. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../../src/library/index.ts';
import { NodeBench } from '../node/nodes-bench.ts';
import { hasRedis, type RedisServer, startRedis } from '../support/redis-server.ts';
import { WebBench } from './web-bench.ts';

const LONG = 120_000;

describe.skipIf(!hasRedis)('the files of a handler on Redis', () => {
  const web = new WebBench();
  let redis: RedisServer;
  let node: NodeBench;
  beforeAll(async () => {
    redis = await startRedis();
    node = new NodeBench('files-node', redis.url);
    await node.start();
  });
  afterAll(async () => {
    await node.bench.close();
    await redis.stop();
  });

  it.each([
    ['in the data directory of the node', () => ({ home: node.bench.home })],
    ['sent to the node', () => ({ files: node.url })],
  ])('are shown and downloaded: %s', { timeout: LONG }, async (where, options) => {
    await using longhaul = await connect(redis.url, options());
    const queue = longhaul.queue<null, null>('handler');
    await using _work = queue.work(async (job) => {
      await job.attach('report.txt', Buffer.from(`${where}: ${await (await job.files.get('source.txt')).text()}`));
      return null;
    });
    const job = await queue.add(null, { attach: { 'source.txt': Buffer.from('given') } });
    await job.finished();
    const { page, pageErrors } = await web.open(new URL(`/q/handler/${job.id}`, node.url).href);
    const table = page.getByRole('table', { name: 'Attachments' });
    await table.getByRole('row', { name: /source\.txt input 5 B/ }).waitFor();
    const download = page.waitForEvent('download');
    await table.getByRole('link', { name: 'report.txt' }).click();
    const saved = join(web.bench.home, 'report.txt');
    await (await download).saveAs(saved);
    expect(readFileSync(saved, 'utf8')).toBe(`${where}: given`);
    expect(pageErrors).toEqual([]);
  });
});
