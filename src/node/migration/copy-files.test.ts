import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Home } from '../home.ts';
import { homeAt } from '../home.ts';
import type { FilesToCopy } from './copy-files.ts';
import { copyFiles } from './copy-files.ts';

async function twoHomes(): Promise<{ from: Home; to: Home }> {
  const folder = await mkdtemp(join(tmpdir(), 'longhaul-homes-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return { from: homeAt(join(folder, 'from')), to: homeAt(join(folder, 'to')) };
}

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

async function putBlob({ blobs }: Home, text: string): Promise<string> {
  const hash = createHash('sha256').update(text).digest('hex');
  await put(join(blobs, hash.slice(0, 2), hash), text);
  return join(hash.slice(0, 2), hash);
}

const request = (homes: { from: Home; to: Home }, more: Partial<FilesToCopy> = {}): FilesToCopy => ({
  ...homes,
  known: new Map(),
  signal: new AbortController().signal,
  onFile: () => undefined,
  ...more,
});

describe('files of a migrated data directory', () => {
  it('are copied, and in a second round those that were added or grew', async () => {
    const homes = await twoHomes();
    const { from, to } = homes;
    const [blob, known] = [await putBlob(from, 'a film'), new Map<string, string>()];
    await put(join(from.jobs, 'j/attempts/1/log'), 'one\n');
    expect(await copyFiles(request(homes, { known }))).toEqual({ files: 2, bytes: 10 });
    await appendFile(join(from.jobs, 'j/attempts/1/log'), 'two\n');
    const late = await putBlob(from, 'another');
    expect(await copyFiles(request(homes, { known }))).toEqual({ files: 3, bytes: 21 });
    expect(await readFile(join(to.blobs, blob), 'utf8')).toBe('a film');
    expect(await readFile(join(to.blobs, late), 'utf8')).toBe('another');
    expect(await readFile(join(to.jobs, 'j/attempts/1/log'), 'utf8')).toBe('one\ntwo\n');
  });

  it('with a wrong hash are refused, and do not appear under their name', async () => {
    const homes = await twoHomes();
    const blob = await putBlob(homes.from, 'right');
    await writeFile(join(homes.from.blobs, blob), 'wrong');
    await expect(copyFiles(request(homes))).rejects.toMatchObject({ code: 'data-corrupt' });
    await expect(readFile(join(homes.to.blobs, blob))).rejects.toThrow('ENOENT');
  });

  it('are repaired in the new data directory where they differ', async () => {
    const homes = await twoHomes();
    const blob = await putBlob(homes.from, 'right');
    await put(join(homes.to.blobs, blob), 'wrong');
    await copyFiles(request(homes));
    expect(await readFile(join(homes.to.blobs, blob), 'utf8')).toBe('right');
  });

  it('are skipped when they were removed', async () => {
    const homes = await twoHomes();
    for (const name of ['a', 'b']) await put(join(homes.from.jobs, name), name);
    const onFile = (): void => rmSync(join(homes.from.jobs, 'b'), { force: true });
    expect(await copyFiles(request(homes, { onFile }))).toEqual({ files: 1, bytes: 1 });
  });

  it('are copied until the signal is aborted', async () => {
    const homes = await twoHomes();
    for (const name of ['a', 'b', 'c']) await put(join(homes.from.jobs, name), name);
    const stop = new AbortController();
    await expect(copyFiles(request(homes, { signal: stop.signal, onFile: () => stop.abort() }))).rejects.toThrow(
      'abort',
    );
    await expect(readFile(join(homes.to.jobs, 'b'))).rejects.toThrow('ENOENT');
  });
});
