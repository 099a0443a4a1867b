/** The script that makes the screenshots of the documentation works. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { testSize } from '../support/test-size.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const script = join(root, 'scripts/screenshots.mjs');

it('makes a screenshot of each page in both themes', { timeout: 120_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-pictures-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const names = testSize({ small: ['job'], full: ['home', 'queue', 'job', 'failures'] });
  await run(process.execPath, [script, ...names, '--hurry', '--out', folder], { cwd: root });
  const wanted = names.flatMap((name) => [`${name}-dark.png`, `${name}-light.png`]);
  expect(readdirSync(folder).sort()).toEqual(wanted.sort());
  for (const name of wanted) {
    const bytes = readFileSync(join(folder, name));
    expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([1200, 750]);
    // An empty page has far fewer bytes.
    expect(bytes.length).toBeGreaterThan(5_000);
  }
});

it('lists the screenshots if an unknown one is requested', async () => {
  const asked = run(process.execPath, [script, 'nothing'], { cwd: root });
  await expect(asked).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('home, queue, job, failures') });
});
