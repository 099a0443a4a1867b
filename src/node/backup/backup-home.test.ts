import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { homeAt } from '../home.ts';
import { backupHome } from './backup-home.ts';

const ATTEMPT = 'jobs/a/attempts/1';

it('copies the record of an attempt and the secrets to mask in its log, but no file of its processes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-backup-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const root = join(folder, 'home');
  for (const name of [ATTEMPT, 'queues', 'blobs']) mkdirSync(join(root, name), { recursive: true });
  for (const name of ['log', 'attempt.jsonl', 'secrets.json', 'usage.json', 'pid', 'exit'])
    writeFileSync(join(root, ATTEMPT, name), '{}\n');
  const { files } = await backupHome({
    home: homeAt(root),
    to: join(folder, 'backup'),
    version: '0.0.0',
    now: 0,
    hasLogs: true,
    copyDatabase: null,
    onProgress: () => undefined,
  });
  const names = ['attempt.jsonl', 'log', 'secrets.json', 'usage.json'];
  expect(files.map(({ path }) => path).sort()).toEqual(names.map((name) => `${ATTEMPT}/${name}`));
});
