/** Commands on a directory without a store, or with an unusable store: each refuses it and creates nothing. */
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../../src/library/index.ts';
import { openDatabase } from '../../src/stores/sqlite/engine/sqlite-database.ts';
import { CliBench } from './cli-bench.ts';

const bench = new CliBench();
const isRoot = process.getuid?.() === 0;
const canMount = isRoot && spawnSync('sh', ['-c', 'unshare -m mount -t tmpfs tmpfs /mnt']).status === 0;

/** Creates a directory with these files. */
function aDirectory(name: string, files: readonly string[] = []): string {
  const folder = join(bench.folder, name);
  mkdirSync(folder, { mode: 0o700 });
  for (const file of files) writeFileSync(join(folder, file), 'mine');
  return folder;
}

/** Lists all files below the directory. */
const contents = (folder: string): string[] => readdirSync(folder, { recursive: true }).map(String).sort();

async function aStore(name: string, version?: number): Promise<string> {
  const folder = aDirectory(name);
  const longhaul = await connect(folder);
  await longhaul.queue('films').add({}, { id: 'film' });
  await longhaul.close();
  if (version === undefined) return folder;
  const db = openDatabase(join(folder, 'store.db'), 0);
  db.exec(`PRAGMA user_version = ${version}`);
  db.close();
  for (const file of readdirSync(folder)) if (file !== 'store.db') rmSync(join(folder, file));
  return folder;
}

/** Expects that every command refuses the directory with this message and creates nothing. */
async function expectRefused(folder: string, message: string, lines: readonly string[]): Promise<void> {
  const before = contents(folder);
  const target = join(bench.folder, 'never-created');
  for (const line of lines) {
    const result = await bench.run(...line.replace('HERE', folder).replace('THERE', target).split(' '));
    expect([line, result.code, `${result.stdout}${result.stderr}`]).toEqual([
      line,
      2,
      expect.stringContaining(message),
    ]);
  }
  expect(contents(folder)).toEqual(before);
  expect(existsSync(target)).toBe(false);
}

const MAINTENANCE = ['migrate --from HERE --to THERE', 'backup --home HERE --to THERE', 'doctor --home HERE'];

describe('a directory without a store', () => {
  it('is refused by commands that read and by commands that write', async () => {
    const lines = ['ls --home HERE', 'show film --store HERE', 'add films --create --store HERE'];
    await expectRefused(aDirectory('photos', ['one.jpg']), 'photos', [
      ...lines,
      ...MAINTENANCE,
      'migrate --from HERE --reopen',
    ]);
  });

  it('is not created by a dry run of a migration', async () => {
    const from = await aStore('from');
    const to = join(bench.folder, 'to');
    const { code, stdout } = await bench.run('migrate', '--from', from, '--to', to, '--dry-run');
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('jobs: 1') });
    expect(existsSync(to)).toBe(false);
  });
});

describe('a token before the first start of a node', () => {
  it('is created together with the store, in a new directory or one with settings', async () => {
    const [fresh, settled] = [join(bench.folder, 'fresh'), join(bench.folder, 'settled')];
    mkdirSync(settled);
    writeFileSync(join(settled, 'node.json'), '{}');
    for (const home of [fresh, settled]) {
      const { code } = await bench.run('token', 'create', 'first', '--role', 'admin', '--home', home);
      expect([home, code, existsSync(join(home, 'store.db'))]).toEqual([home, 0, true]);
    }
  });

  it('is refused in a directory with other files, which stays unchanged', async () => {
    const folder = join(bench.folder, 'papers');
    mkdirSync(folder);
    writeFileSync(join(folder, 'letter.txt'), 'Dear');
    const { code } = await bench.run('token', 'create', 'first', '--role', 'admin', '--home', folder);
    expect([code, contents(folder)]).toEqual([2, ['letter.txt']]);
  });
});

describe('a store of a future version', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await aStore('future', 99);
    mkdirSync(join(folder, 'queues'));
  });

  it('is refused by commands', () => expectRefused(folder, 'has schema 99', ['ls --home HERE', ...MAINTENANCE]));

  it('is refused by a node, which creates neither directories nor sockets', async () => {
    rmSync(join(folder, 'queues'), { recursive: true });
    const { ended } = await bench.start(['serve', '--home', folder, '--port', '0']);
    expect(await ended).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('has schema 99'),
    });
    expect(contents(folder)).toEqual(['store.db']);
  });
});

describe('a directory without write access', () => {
  it.runIf(canMount)('on a read-only file system is named in the error, with the remedy', async () => {
    const folder = await aStore('frozen');
    const script = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec longhaul "$@"';
    for (const line of [
      ['ls', '--store', folder],
      ['serve', '--home', join(folder, 'new'), '--port', '0'],
    ]) {
      const argv = [folder, ...line].map((text) => `'${text}'`).join(' ');
      const result = await bench.shell(`exec unshare -m sh -c '${script}' sh ${argv}`);
      expect([line, result]).toEqual([line, { code: 1, stdout: '', stderr: expect.any(String) }]);
      expect(result.stderr).toContain(`${line[2]} is on a read-only file system (EROFS): mount it for writing`);
    }
  });

  it.runIf(isRoot)('for this user is named in the error, with the remedy', async () => {
    const folder = await aStore('closed');
    for (const file of ['.', ...readdirSync(folder)]) chownSync(join(folder, file), 12_345, 12_345);
    chmodSync(folder, 0o500);
    chmodSync(bench.folder, 0o755);
    const result = await bench.shell(
      `exec setpriv --reuid 12345 --regid 12345 --clear-groups longhaul ls --store ${folder}`,
    );
    expect(result).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`may not read and write ${folder} (EACCES)`),
    });
    expect(result.stderr).toContain('chown');
  });
});
