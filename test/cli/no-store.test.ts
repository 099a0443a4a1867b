/** Commands on a place that holds no store, or a store that cannot be used: each refuses it, and nothing is created. */
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

/** A folder of this name with these files. */
function aFolder(name: string, files: readonly string[] = []): string {
  const folder = join(bench.folder, name);
  mkdirSync(folder, { mode: 0o700 });
  for (const file of files) writeFileSync(join(folder, file), 'mine');
  return folder;
}

/** What the folder has, at every depth. */
const contents = (folder: string): string[] => readdirSync(folder, { recursive: true }).map(String).sort();

async function aStore(name: string, version?: number): Promise<string> {
  const folder = aFolder(name);
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

/** Commands of every way to a store, on this folder: each is refused with these words, and nothing is created. */
async function expectRefused(folder: string, words: string, lines: readonly string[]): Promise<void> {
  const before = contents(folder);
  const target = join(bench.folder, 'never-created');
  for (const line of lines) {
    const said = await bench.run(...line.replace('HERE', folder).replace('THERE', target).split(' '));
    expect([line, said.code, `${said.stdout}${said.stderr}`]).toEqual([line, 2, expect.stringContaining(words)]);
  }
  expect(contents(folder)).toEqual(before);
  expect(existsSync(target)).toBe(false);
}

const MOVES = ['migrate --from HERE --to THERE', 'backup --home HERE --to THERE', 'doctor --home HERE'];

describe('a folder without a store', () => {
  it('is refused, by commands that read and by commands that write', async () => {
    const lines = ['ls --home HERE', 'show film --store HERE', 'add films --create --store HERE'];
    await expectRefused(aFolder('photos', ['one.jpg']), 'photos', [...lines, ...MOVES, 'migrate --from HERE --reopen']);
  });

  it('is not created by a dry run of a move', async () => {
    const from = await aStore('from');
    const to = join(bench.folder, 'to');
    const { code, stdout } = await bench.run('migrate', '--from', from, '--to', to, '--dry-run');
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('jobs: 1') });
    expect(existsSync(to)).toBe(false);
  });
});

describe('a token before the first start of a node', () => {
  it('is created together with the store, in a new folder or one with settings', async () => {
    const [fresh, settled] = [join(bench.folder, 'fresh'), join(bench.folder, 'settled')];
    mkdirSync(settled);
    writeFileSync(join(settled, 'node.json'), '{}');
    for (const home of [fresh, settled]) {
      const { code } = await bench.run('token', 'create', 'first', '--role', 'admin', '--home', home);
      expect([home, code, existsSync(join(home, 'store.db'))]).toEqual([home, 0, true]);
    }
  });

  it('is refused in a folder with other files, which stays as it is', async () => {
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

  it('is refused by commands', () => expectRefused(folder, 'has schema 99', ['ls --home HERE', ...MOVES]));

  it('is refused by a node, which creates neither folders nor sockets', async () => {
    rmSync(join(folder, 'queues'), { recursive: true });
    expect(await bench.run('serve', '--home', folder, '--port', '0')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('has schema 99'),
    });
    expect(contents(folder)).toEqual(['store.db']);
  });
});

describe('a folder that may not be written', () => {
  it.runIf(canMount)('on a read-only file system is named, with the remedy', async () => {
    const folder = await aStore('frozen');
    const script = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec longhaul "$@"';
    for (const line of [
      ['ls', '--store', folder],
      ['serve', '--home', join(folder, 'new'), '--port', '0'],
    ]) {
      const words = [folder, ...line].map((word) => `'${word}'`).join(' ');
      const said = await bench.shell(`exec unshare -m sh -c '${script}' sh ${words}`);
      expect([line, said]).toEqual([line, { code: 1, stdout: '', stderr: expect.any(String) }]);
      expect(said.stderr).toContain(`${line[2]} is on a read-only file system (EROFS): mount it for writing`);
    }
  });

  it.runIf(isRoot)('by this user is named, with the remedy', async () => {
    const folder = await aStore('closed');
    for (const file of ['.', ...readdirSync(folder)]) chownSync(join(folder, file), 12_345, 12_345);
    chmodSync(folder, 0o500);
    chmodSync(bench.folder, 0o755);
    const said = await bench.shell(
      `exec setpriv --reuid 12345 --regid 12345 --clear-groups longhaul ls --store ${folder}`,
    );
    expect(said).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`may not read and write ${folder} (EACCES)`),
    });
    expect(said.stderr).toContain('chown');
  });
});
