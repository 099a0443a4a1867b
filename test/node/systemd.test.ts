/** Notifications to systemd: a real datagram socket, read by a few lines of Perl. */

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
// Needs systemd-notify; without it, serve logs so and continues (below).
const canNotify = hasProgram('systemd-notify') && hasProgram('perl');

test.runIf(canNotify)('systemd gets READY, a WATCHDOG ping at half of its interval, and STOPPING.', async () => {
  const bench = aNewHome();
  const socket = join(bench.home, '..', `${bench.home.split('/').at(-1)}.notify`);
  const systemd = await spawnGuarded('perl', ['-e', listener, socket]);
  const heard: string[] = [];
  createInterface({ input: systemd.stdout }).on('line', (line) => heard.push(line));
  const receives = (pattern: RegExp) =>
    eventually(
      () => heard,
      (lines) => lines.some((line) => pattern.test(line)),
      20_000,
    );
  try {
    await receives(/^listening/);
    const node = await bench.serve([], { NOTIFY_SOCKET: socket, WATCHDOG_USEC: '400000' });
    await receives(new RegExp(`READY=1 MAINPID=${node.pid}\\b`));
    await eventually(
      () => heard.filter((line) => /WATCHDOG=1/.test(line)).length,
      (count) => count >= 3,
      20_000,
    );
    expect((await node.terminate()).code).toBe(0);
    await receives(/STOPPING=1/);
  } finally {
    systemd.signal('SIGKILL');
    await systemd.ended;
  }
});

test('When systemd cannot be notified, the node logs it once and continues.', async () => {
  const bench = aNewHome();
  const node = await bench.serve([], { NOTIFY_SOCKET: '/nonexistent/notify', WATCHDOG_USEC: '200000' });
  await node.says(/cannot notify systemd/, 20_000);
  expect((await node.terminate()).code).toBe(0);
  expect(node.lines.filter((line) => line.includes('cannot notify systemd'))).toHaveLength(1);
});

test.runIf(hasProgram('systemd-analyze'))('The unit in docs/deploying.md is valid for systemd.', () => {
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
