/** What systemd hears of a node: a real datagram socket, listened to by a few lines of Perl. */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { eventually, hasProgram } from '../processes/runner-workbench.ts';
import { spawnGuarded } from '../support/guarded-process.ts';
import { aNewHome } from './serve-bench.ts';

const listener = `
use Socket; $| = 1;
socket(my $socket, PF_UNIX, SOCK_DGRAM, 0) or die; bind($socket, sockaddr_un($ARGV[0])) or die;
print "listening\\n";
while (defined recv($socket, my $said, 4096, 0)) { $said =~ s/\\n/ /g; print "$said\\n" }
`;
// Where its own program is missing there is nobody to tell systemd anything; serve says so and goes on (below).
const canTell = hasProgram('systemd-notify') && hasProgram('perl');

test.runIf(canTell)('systemd hears READY, a sign of life at half of its watchdog, and STOPPING.', async () => {
  const bench = aNewHome();
  const socket = join(bench.home, '..', `${bench.home.split('/').at(-1)}.notify`);
  const systemd = await spawnGuarded('perl', ['-e', listener, socket]);
  const heard: string[] = [];
  createInterface({ input: systemd.stdout }).on('line', (line) => heard.push(line));
  const hears = (words: RegExp) =>
    eventually(
      () => heard,
      (lines) => lines.some((line) => words.test(line)),
      20_000,
    );
  try {
    await hears(/^listening/);
    const node = await bench.serve([], { NOTIFY_SOCKET: socket, WATCHDOG_USEC: '400000' });
    await hears(new RegExp(`READY=1 MAINPID=${node.pid}\\b`));
    await eventually(
      () => heard.filter((line) => /WATCHDOG=1/.test(line)).length,
      (count) => count >= 3,
      20_000,
    );
    expect((await node.terminate()).code).toBe(0);
    await hears(/STOPPING=1/);
  } finally {
    systemd.signal('SIGKILL');
    await systemd.ended;
  }
});

test('Where systemd cannot be told, the log says so once and the node goes on.', async () => {
  const bench = aNewHome();
  const node = await bench.serve([], { NOTIFY_SOCKET: '/nonexistent/notify', WATCHDOG_USEC: '200000' });
  await node.says(/cannot notify systemd/, 20_000);
  expect((await node.terminate()).code).toBe(0);
  expect(node.lines.filter((line) => line.includes('cannot notify systemd'))).toHaveLength(1);
});

test.runIf(hasProgram('systemd-analyze'))('The unit in docs/deploying.md is one that systemd takes.', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/deploying.md'), 'utf8');
  const unit = /```ini\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-unit-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'longhaul.service');
  writeFileSync(path, unit.replace('/usr/local/bin/longhaul', process.execPath).replace('User=longhaul', 'User=root'));
  const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', path], { encoding: 'utf8' });
  expect(stderr.split('\n').filter((line) => line.includes('longhaul.service'))).toEqual([]);
  expect(unit).toContain('KillMode=process');
});
