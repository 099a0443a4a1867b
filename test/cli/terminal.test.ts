/** What only a terminal gets: colours, the live screen, a question before something that cannot be taken back. */
import { beforeAll, describe, expect, it } from 'vitest';
import { hasProgram } from '../processes/runner-workbench.ts';
import { CliBench, eventually, type Said } from './cli-bench.ts';

const bench = new CliBench();

beforeAll(async () => {
  bench.queue('films', 'true');
  for (const id of ['film-1', 'film-2']) await bench.run('add', 'films', '--id', id);
  await bench.run('cancel', 'film-2');
});

/** Types once these words are on the screen. */
const typed = async (line: string, words: string, keys: string): Promise<Said> => {
  const { child, said, ended } = await bench.startInTerminal(line);
  await eventually(said, ({ stdout }) => stdout.includes(words), 30_000);
  child.stdin.write(keys);
  return ended;
};

describe.runIf(hasProgram('script'))('in a terminal', () => {
  it('lists are coloured, and not with NO_COLOR', async () => {
    const coloured = await (await bench.startInTerminal('longhaul ls')).ended;
    expect(coloured.stdout).toContain('\u001b[2mcancelled\u001b[0m');
    const plain = await (await bench.startInTerminal('longhaul ls', { NO_COLOR: '1' })).ended;
    expect(plain.stdout).toContain('cancelled');
    expect(plain.stdout).not.toContain('\u001b[');
  });

  it('top takes the whole screen, q quits, and the screen is given back', async () => {
    const { code, stdout } = await typed('longhaul top', '0 running, 1 waiting, 0 failed', 'q');
    expect(code).toBe(0);
    expect(stdout).toContain('\u001b[?1049h');
    expect(stdout).toMatch(/\u001b\[\?25h\u001b\[\?1049l\s*$/);
  });

  it('a cancel of many is asked about, and only a yes does it', async () => {
    const question = 'This will cancel 1 waiting job of queue films. Go on? [y/N]';
    expect((await typed('longhaul cancel --queue films', question, 'n\n')).code).toBe(1);
    expect((await (await bench.longhaul()).find('film-1'))?.state).toBe('waiting');
    const yes = await typed('longhaul cancel --queue films', question, 'y\n');
    expect(yes.stdout).toContain('cancelled 1 of 1 waiting job of queue films');
  });

  it('a cancel of many asks again about those that other jobs wait for', async () => {
    await bench.run('add', 'films', '--id', 'awaited');
    await bench.run('add', 'others', '--create', '--id', 'waits', '--after', 'awaited');
    const question = 'This will cancel 1 more job of queue films, and with each the jobs waiting for it. Go on? [y/N]';
    const { child, said, ended } = await bench.startInTerminal('longhaul cancel --queue films');
    await eventually(said, ({ stdout }) => stdout.includes('Go on? [y/N]'), 30_000);
    child.stdin.write('y\n');
    await eventually(said, ({ stdout }) => stdout.includes(question), 30_000);
    child.stdin.write('y\n');
    expect(await ended).toMatchObject({ code: 0, stdout: expect.stringContaining('cancelled 1 of 1 waiting job') });
    expect((await (await bench.longhaul()).find('waits'))?.state).toBe('cancelled');
  });
});
