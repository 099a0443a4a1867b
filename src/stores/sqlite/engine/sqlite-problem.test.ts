/** Every SQLite error that is not a bug of Longhaul gets an error code and a message with file, fault and remedy. */
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { LonghaulError } from '../../../core/ports/errors.ts';
import { openDatabase } from './sqlite-database.ts';
import { explain, readTwice } from './sqlite-problem.ts';

const sqliteError = (name: string, code: number, systemErrno?: number): Error =>
  Object.assign(new Error('text of SQLite'), { sqliteExtendedCode: code, sqliteCodeName: name, systemErrno });

describe('a SQLite error', () => {
  it.each([
    ['SQLITE_ERROR', 1, 'data-corrupt'],
    ['SQLITE_PERM', 3, 'store-unavailable'],
    ['SQLITE_BUSY', 5, 'store-unavailable'],
    ['SQLITE_LOCKED', 6, 'store-unavailable'],
    ['SQLITE_NOMEM', 7, 'store-unavailable'],
    ['SQLITE_READONLY', 8, 'store-unavailable'],
    ['SQLITE_IOERR', 266, 'store-unavailable'],
    ['SQLITE_IOERR', 4874, 'store-full'],
    ['SQLITE_CORRUPT', 11, 'data-corrupt'],
    ['SQLITE_CORRUPT', 779, 'data-corrupt'],
    ['SQLITE_FULL', 13, 'store-full'],
    ['SQLITE_CANTOPEN', 14, 'store-unavailable'],
    ['SQLITE_PROTOCOL', 15, 'store-unavailable'],
    ['SQLITE_TOOBIG', 18, 'bad-input'],
    ['SQLITE_CONSTRAINT', 2067, 'data-corrupt'],
    ['SQLITE_NOTADB', 26, 'data-corrupt'],
  ])('%s (%i) has the code %s', (name, number, code) => {
    const explained = explain(sqliteError(name, number), '/data/store.db') as LonghaulError;
    expect(explained).toBeInstanceOf(LonghaulError);
    expect(explained).toMatchObject({ code, message: expect.stringContaining('/data/store.db') as string });
    if (code !== 'store-full') expect(explained.message).toContain(`text of SQLite (${name}`);
  });

  it('is no full disk when a shared memory file could not grow because the disk failed', () => {
    const explained = explain(sqliteError('SQLITE_IOERR', 4874, 5), '/data/store.db');
    expect(explained).toMatchObject({ code: 'store-unavailable' });
  });

  it('of a read is reported only when a second read has it too', () => {
    const damage = sqliteError('SQLITE_CORRUPT', 11);
    let reads = 0;
    const failing = (times: number) => () => {
      reads += 1;
      if (reads <= times) throw damage;
      return 'row';
    };
    expect(readTwice(failing(1))).toBe('row');
    expect(reads).toBe(2);
    reads = 0;
    expect(() => readTwice(failing(2))).toThrow(damage);
  });

  it('names the system error behind it', () => {
    const explained = explain(sqliteError('SQLITE_IOERR', 266, 5), '/data/store.db') as LonghaulError;
    expect(explained.message).toBe(
      '/data/store.db cannot be read or written: text of SQLite (SQLITE_IOERR 266, EIO); ' +
        'check the disk and the rights of the folder',
    );
  });

  it('is recognized by the code that the package really sets', () => {
    const folder = '/nonexistent-folder-of-a-test';
    expect(existsSync(folder)).toBe(false);
    let thrown: unknown;
    try {
      openDatabase(`${folder}/store.db`, 0);
    } catch (error) {
      thrown = explain(error, folder);
    }
    expect(thrown).toMatchObject({ code: 'store-unavailable' });
    expect((thrown as Error).message).toContain('(SQLITE_CANTOPEN, ENOENT)');
  });

  it('is returned unchanged if only a bug can cause it, like errors of other code', () => {
    const misuse = sqliteError('SQLITE_MISUSE', 21);
    const other = new TypeError('no such method');
    expect([explain(misuse, 'x'), explain(other, 'x')]).toEqual([misuse, other]);
  });
});
