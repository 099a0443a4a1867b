/**
 * A disk that fails an fsync under a node. Its later answers cannot be trusted, so the node accepts nothing more and
 * exits with an error. Acknowledged data are there when the next node starts.
 */
import { spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../processes/runner-workbench.ts';
import { type Bench, cli } from '../processes/scripts-workbench.ts';
import { spawnGuarded } from '../support/guarded-process.ts';
import { testSize } from '../support/test-size.ts';
import { aBench, endNodeOf, post } from './serve-bench.ts';

const hasStrace = spawnSync('sh', ['-c', 'strace -qq -o /dev/null true']).status === 0;
const WHEN = testSize({ small: [3, 8, 20], full: Array.from({ length: 60 }, (_, each) => each + 1) });

/** Starts a node with the n-th fsync of each thread and all later ones failing: a broken disk does not heal. */
async function serveOnBrokenDisk(bench: Bench, when: number) {
  const serve = [process.execPath, cli, 'serve', '--home', bench.home, '--port', '0', '--log-format', 'pretty'];
  const trace = [
    '-f',
    '-qq',
    '-o',
    '/dev/null',
    '-e',
    'trace=fsync,fdatasync',
    '-e',
    `inject=fsync,fdatasync:error=EIO:when=${when}+`,
  ];
  const node = await spawnGuarded('strace', [...trace, ...serve]);
  const lines: string[] = [];
  for (const stream of [node.stdout, node.stderr])
    createInterface({ input: stream }).on('line', (line) => lines.push(line));
  onTestFinished(async () => {
    node.signal('SIGKILL');
    endNodeOf(bench.home);
    await node.ended;
  });
  const isReady = () => lines.some((line) => line.includes('or open http') || line.includes('web UI and API'));
  await eventually(
    () => ({ lines, isAlive: node.isAlive }),
    (seen) => isReady() || !seen.isAlive,
    60_000,
  );
  return {
    node,
    lines,
    url:
      lines
        .find((line) => line.includes('web UI and API'))
        ?.trim()
        .split(/\s+/)
        .at(-1) ?? null,
  };
}

// Needs a way to make system calls fail.
describe.skipIf(!hasStrace)('a disk that fails an fsync', () => {
  it.each(WHEN)('ends the node with an error at fsync %s, and loses nothing that was acknowledged', async (when) => {
    const bench = aBench();
    // After a good start: failing to create the database is a different case.
    expect(bench.run('add', 'mail', '--create', '--store', bench.home)).toMatchObject({ code: 0 });
    const { node, lines, url } = await serveOnBrokenDisk(bench, when);
    const acked: string[] = [];
    const refused: number[] = [];
    for (let each = 0; url !== null && each < 500 && node.isAlive; each += 1) {
      const id = `job-${each}`;
      const answer = await post(url, '/api/store/add', { argument: [{ id, queue: 'mail', data: '1' }] }).catch(
        () => null,
      );
      if (answer === null) break;
      if (answer.status === 200) {
        expect(refused).toEqual([]);
        acked.push(id);
      } else refused.push(answer.status);
    }
    const { code } = await node.ended;
    expect({ code, lines: lines.slice(-5) }).not.toMatchObject({ code: 0 });
    const longhaul = await bench.longhaul();
    const found = await longhaul.store.jobs.find(acked);
    expect(found.filter((job) => job === null)).toEqual([]);
  });
});
