/** How many claims may wait for an fsync: a power cut undoes no more tokens than an engine skips when it opens. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { StoreEvent } from '../../core/ports/job-store.ts';
import { CommitSync, SKIPPED_TOKENS } from './commit-sync.ts';
import type { Database } from './engine/sqlite-database.ts';

const MAX_ENGINES = 256;
const undo: (() => void)[] = [];
afterEach(() => {
  for (const each of undo.splice(0)) each();
});

function aSync(): CommitSync {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-sync-'));
  const path = join(folder, 'store.db');
  writeFileSync(`${path}-wal`, '');
  const db = { exec: () => undefined } as unknown as Database;
  const sync = new CommitSync(db, { path, durability: 'full', onFailed: () => undefined });
  undo.push(() => {
    sync.close();
    rmSync(folder, { recursive: true });
  });
  sync.begin('later');
  return sync;
}

const events = (type: 'claimed' | 'completed', count: number): readonly StoreEvent[] =>
  Array.from({ length: count }, (_, n) => ({ type, id: `job-${n}`, queue: 'q', state: null }));

it('syncs before more claims are pending than 256 engines may lose', () => {
  const sync = aSync();
  const most = SKIPPED_TOKENS / MAX_ENGINES;
  sync.committed(events('claimed', most), false);
  expect(sync.isPending).toBe(true);
  sync.committed(events('claimed', 1), false);
  expect(sync.isPending).toBe(false);
});

it('counts only claims: a settlement takes no token', () => {
  const sync = aSync();
  sync.committed(events('completed', 2 * SKIPPED_TOKENS), false);
  expect(sync.isPending).toBe(true);
});
