/**
 * Scripts on a full disk of 24 MB: gaps of their logs are marked, and only a script whose reports were lost runs a second
 * time.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Job } from '../../src/core/job/job.ts';
import { readExit, readPid } from '../../src/runner/attempt/attempt-files.ts';
import type { AttemptView } from '../../src/wire/attempt-view.ts';
import { eventually, killQuietly } from '../processes/runner-workbench.ts';
import { get, post } from './serve-bench.ts';
import { canMount, fillUp, makeRoom, type SmallDisk, serveOnSmallDisk } from './small-disk.ts';

/** Lines that the script cannot write. The store releases its ballast meanwhile, so some lines between them are kept. */
const LOST = 60;
/** A page holds few lines of this length: a write into the last page of a file needs no free space. */
const LINE = 'x'.repeat(400);
const MARK = /^\[longhaul: the disk was full between (\S+) and (\S+): output of that time may be missing here\]$/;

async function add(disk: SmallDisk, queue: string): Promise<string> {
  const job = { id: queue, queue, data: 'null' };
  expect((await post(disk.url, '/api/store/add', { argument: [job] })).status).toBe(200);
  return join(disk.outside, 'jobs', queue, 'attempts/1');
}

async function find(disk: SmallDisk, id: string): Promise<Job | null> {
  const { text } = await post(disk.url, '/api/store/find', { argument: [id] });
  return (JSON.parse(text) as readonly (Job | null)[])[0] ?? null;
}

const untilDone = (disk: SmallDisk, id: string): Promise<Job | null> =>
  eventually(
    () => find(disk, id),
    (job) => job?.state === 'done' || job?.state === 'failed',
    30_000,
  );

/** The store releases its ballast meanwhile, so the disk is filled repeatedly. */
async function keepFull(disk: SmallDisk, until: () => boolean, ms = 20_000): Promise<void> {
  for (const deadline = Date.now() + ms; Date.now() < deadline && !until(); await sleep(5)) fillUp(disk);
}

/** Outside the small disk. */
function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-beside-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const linesOf = (file: string): readonly string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];

if (!canMount) process.stdout.write('\nnot run: full-disk-scripts.test.ts needs root, to mount a small disk\n');

describe.skipIf(!canMount)('a script on a disk without a free byte', () => {
  it('has its gap marked in the log and in the record of the attempt', async () => {
    const beside = aFolder();
    const [full, through, room] = ['full', 'through', 'room'].map((name) => join(beside, name)) as [
      string,
      string,
      string,
    ];
    const disk = await serveOnSmallDisk({
      talker: `pass() { while [ ! -e "$1" ]; do sleep 0.02; done; }
talk() { i=$((i + 1)); echo "line $i ${LINE}"; }
i=0; until [ $i = 100 ]; do talk; done
pass ${full}
lost=0; until [ $lost = ${LOST} ]; do talk || lost=$((lost + 1)); done
: > ${through}
pass ${room}
until talk && [ $((n += 1)) = 200 ]; do :; done
echo "$i lines"; exit 0`,
    });
    const folder = await add(disk, 'talker');
    await eventually(
      () => linesOf(join(folder, 'log')),
      (lines) => lines.length === 100,
    );
    const fullAt = Date.now();
    fillUp(disk);
    writeFileSync(full, '');
    await keepFull(disk, () => existsSync(through));
    // The node polls the free space at least once a second.
    await keepFull(disk, () => false, 1_200);
    makeRoom(disk);
    writeFileSync(room, '');
    expect(await untilDone(disk, 'talker')).toMatchObject({ state: 'done', attempt: 1 });

    const lines = linesOf(join(folder, 'log'));
    const kept = new Set(lines.map((line) => Number(/^line (\d+) /.exec(line)?.[1] ?? 0)));
    const all = Number(/^(\d+) lines$/m.exec(lines.join('\n'))?.[1]);
    const missing = Array.from({ length: all }, (_, place) => place + 1).filter((number) => !kept.has(number));
    // The beginning of a line may be kept.
    expect(missing.length).toBeGreaterThan(LOST - 10);
    const marks = lines.flatMap((line, index) => (MARK.test(line) ? [index] : []));
    expect(marks.length).toBeGreaterThan(0);
    // After the output before the gap, and before the end.
    expect(marks[0]).toBeGreaterThanOrEqual(100);
    const { text } = await get(disk.url, '/api/jobs/talker/attempts');
    const { attempts } = JSON.parse(text) as { attempts: AttemptView[] };
    const gaps = attempts[0]?.logGaps ?? [];
    expect(gaps).toHaveLength(marks.length);
    expect(attempts[0]?.end?.logGaps).toEqual(gaps);
    for (const { from, to } of gaps) {
      expect(from).toBeGreaterThan(fullAt - 2_000);
      expect(to).toBeGreaterThanOrEqual(from);
    }
  });

  it('does not run again when it ended there and its shim was killed afterwards', async () => {
    const beside = aFolder();
    const [gate, runs, over] = [join(beside, 'gate'), join(beside, 'runs'), join(beside, 'over')];
    const disk = await serveOnSmallDisk({
      once: `echo run >> ${runs}; while [ ! -e ${gate} ]; do sleep 0.02; done; : > ${over}; exit 0`,
    });
    const folder = await add(disk, 'once');
    await eventually(
      () => linesOf(runs),
      (lines) => lines.length === 1 && readPid(folder)?.script != null,
    );
    fillUp(disk);
    writeFileSync(gate, '');
    await keepFull(disk, () => existsSync(over));
    await keepFull(disk, () => readExit(folder) !== null, 1_000);
    killQuietly(readPid(folder)?.shim.pid ?? 0);
    makeRoom(disk);
    expect(await untilDone(disk, 'once')).toMatchObject({ state: 'done', attempt: 1, crashes: 0 });
    expect(linesOf(runs)).toEqual(['run']);
  });

  it('runs again when its reports on file descriptor 3 were lost', async () => {
    const beside = aFolder();
    const [gate, runs, over] = [join(beside, 'gate'), join(beside, 'runs'), join(beside, 'over')];
    const disk = await serveOnSmallDisk({
      reporter: `echo run >> ${runs}; while [ ! -e ${gate} ]; do sleep 0.02; done; echo 'result 7' >&3; : > ${over}; exit 0`,
    });
    const folder = await add(disk, 'reporter');
    await eventually(
      () => linesOf(runs),
      (lines) => lines.length === 1,
    );
    fillUp(disk);
    // The first write that fails makes the store release its ballast. Later, that space could take the report.
    await post(disk.url, '/api/store/add', { argument: [{ id: 'other', queue: 'other', data: 'null' }] });
    fillUp(disk);
    writeFileSync(gate, '');
    await keepFull(disk, () => existsSync(over));
    // The shim stores the report a moment after the script wrote it, and then the exit status.
    await keepFull(disk, () => readExit(folder) !== null);
    makeRoom(disk);
    expect(await untilDone(disk, 'reporter')).toMatchObject({ state: 'done', result: '7', crashes: 1 });
    expect(linesOf(runs)).toEqual(['run', 'run']);
  });
});
