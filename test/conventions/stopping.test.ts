/** A script of the house that is told to stop ends what it runs, and begins nothing else. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

const house = new URL('../../scripts/script-support.mjs', import.meta.url).href;

/** Two steps, of which the first goes on for a minute. */
const SCRIPT = `
import { main, print, run } from ${JSON.stringify(house)};
await main(import.meta.url, async () => {
  for (const name of ['first', 'second']) {
    print(name + ' step');
    await run(process.execPath, ['-e', 'console.log("begun"); setTimeout(() => {}, 60_000)'], { show: 'copy' });
  }
});
`;

it.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('stops at %s with its usual exit code', async (signal, exitCode) => {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-house-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'steps.mjs');
  writeFileSync(path, SCRIPT);
  const child = spawn(process.execPath, [path], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  child.stderr.on('data', (bytes) => (said += bytes));
  child.stdout.on('data', (bytes) => {
    said += bytes;
    if (String(bytes).includes('begun')) child.kill(signal);
  });
  const [code] = (await once(child, 'close')) as [number];
  expect(said.trim().split('\n')).toEqual(['first step', 'begun', 'second step', `Stopped by ${signal}.`]);
  expect(code).toBe(exitCode);
});
