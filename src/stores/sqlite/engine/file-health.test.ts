/** When a file counts as broken. The clock is virtual, and the probe fails as a disk would. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FileHealth, MAX_FAILING_MS, PROBE_EVERY_MS } from './file-health.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** An error like those of the SQLite package. */
const sqliteError = (message: string, code: number): Error =>
  Object.assign(new Error(message), { errcode: code, sqliteExtendedCode: code, sqliteCodeName: 'SQLITE_X' });
const WRITE = sqliteError('disk I/O error', 778);
const SYNC = sqliteError('disk I/O error', 1034);
const CORRUPT = sqliteError('database disk image is malformed', 11);
const BUSY = sqliteError('database is locked', 5);
const FULL = sqliteError('database or disk is full', 13);

function aFile() {
  const disk: { error: Error | null; probes: number } = { error: null, probes: 0 };
  const probe = (): void => {
    disk.probes += 1;
    if (disk.error !== null) throw disk.error;
  };
  return { disk, health: new FileHealth({ path: '/data/store.db', probe }) };
}

describe('the health of a database file', () => {
  it('breaks when no probe succeeds in time, with an error that names the file, the fault and the remedy', () => {
    const { disk, health } = aFile();
    disk.error = WRITE;
    health.failed(WRITE);
    vi.advanceTimersByTime(MAX_FAILING_MS - 1);
    expect(health.broken).toBeUndefined();
    vi.advanceTimersByTime(PROBE_EVERY_MS);
    expect(health.broken).toMatchObject({ code: 'store-closed' });
    expect(health.broken?.message).toMatch(
      /^\/data\/store\.db .*disk I\/O error.*check the disk .* start the node again/,
    );
  });

  it('stays sound when a probe succeeds in time, and restarts the time limit at the next fault', () => {
    const { disk, health } = aFile();
    disk.error = WRITE;
    health.failed(WRITE);
    vi.advanceTimersByTime(MAX_FAILING_MS - 1);
    disk.error = null;
    vi.advanceTimersByTime(PROBE_EVERY_MS);
    disk.error = WRITE;
    health.failed(WRITE);
    vi.advanceTimersByTime(MAX_FAILING_MS - 1);
    expect(health.broken).toBeUndefined();
  });

  it('breaks at once when a sync fails, and stops probing', () => {
    const { disk, health } = aFile();
    health.failed(SYNC);
    expect(health.broken).toMatchObject({ code: 'store-closed' });
    vi.advanceTimersByTime(MAX_FAILING_MS);
    expect(disk.probes).toBe(0);
  });

  it('breaks at once when the sync of a probe fails', () => {
    const { disk, health } = aFile();
    disk.error = SYNC;
    health.failed(WRITE);
    vi.advanceTimersByTime(PROBE_EVERY_MS);
    expect(health.broken).toMatchObject({ code: 'store-closed' });
  });

  it('does not break while another process holds the lock, nor on a full disk', () => {
    const { disk, health } = aFile();
    health.failed(FULL);
    health.failed(BUSY);
    vi.advanceTimersByTime(MAX_FAILING_MS);
    expect(disk.probes).toBe(0);
    disk.error = BUSY;
    health.failed(WRITE);
    vi.advanceTimersByTime(10 * MAX_FAILING_MS);
    expect(health.broken).toBeUndefined();
  });

  it('reports an unreadable page as damage if the rest can be read, else as a failing disk', () => {
    const { disk, health } = aFile();
    expect(health.explain(CORRUPT)).toMatchObject({ code: 'data-corrupt' });
    vi.advanceTimersByTime(MAX_FAILING_MS);
    disk.error = CORRUPT;
    expect(health.explain(CORRUPT)).toMatchObject({ code: 'store-unavailable' });
    vi.advanceTimersByTime(MAX_FAILING_MS + PROBE_EVERY_MS);
    expect(health.broken).toMatchObject({ code: 'store-closed' });
  });
});
