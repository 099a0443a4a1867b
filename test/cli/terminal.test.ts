/** Features that need a terminal: colours, the live screen, confirmation questions. */
import { beforeAll, describe, expect, it } from 'vitest';
import { hasProgram } from '../processes/runner-workbench.ts';
import { CliBench, type CommandResult, eventually } from './cli-bench.ts';

const bench = new CliBench();

beforeAll(async () => {
  bench.queue('films', 'true');
  for (const id of ['film-1', 'film-2']) await bench.run('add', 'films', '--id', id);
  await bench.run('cancel', 'film-2');
});

/** Types the keys when the text is on the screen. */
const typed = async (line: string, text: string, keys: string): Promise<CommandResult> => {
  const { child, output, ended } = await bench.startInTerminal(line);
  await eventually(output, ({ stdout }) => stdout.includes(text), 30_000);
  child.stdin.write(keys);
  return ended;
};

describe.runIf(hasProgram('script'))('in a terminal', () => {
  it('ls prints colours, but not with NO_COLOR', async () => {
    const coloured = await (await bench.startInTerminal('longhaul ls')).ended;
    expect(coloured.stdout).toContain('\u001b[2mcancelled\u001b[0m');
    const plain = await (await bench.startInTerminal('longhaul ls', { NO_COLOR: '1' })).ended;
    expect(plain.stdout).toContain('cancelled');
    expect(plain.stdout).not.toContain('\u001b[');
  });

  it('top uses the whole screen, quits at q, and restores the screen', async () => {
    const { code, stdout } = await typed('longhaul top', '0 running, 1 waiting, 0 failed', 'q');
    expect(code).toBe(0);
    expect(stdout).toContain('\u001b[?1049h');
    expect(stdout).toMatch(/\u001b\[\?25h\u001b\[\?1049l\s*$/);
  });

  it('cancel --queue asks for confirmation, and only a yes cancels', async () => {
    const question = 'This will cancel 1 waiting job of queue films. Continue? [y/N]';
    expect((await typed('longhaul cancel --queue films', question, 'n\n')).code).toBe(1);
    expect((await (await bench.longhaul()).find('film-1'))?.state).toBe('waiting');
    const yes = await typed('longhaul cancel --queue films', question, 'y\n');
    expect(yes.stdout).toContain('cancelled 1 of 1 waiting job of queue films');
  });

  it('cancel --queue asks again about jobs with dependents', async () => {
    await bench.run('add', 'films', '--id', 'awaited');
    await bench.run('add', 'others', '--create', '--id', 'waits', '--after', 'awaited');
    const question = 'This will cancel 1 more job of queue films, each with its dependent jobs. Continue? [y/N]';
    const { child, output, ended } = await bench.startInTerminal('longhaul cancel --queue films');
    await eventually(output, ({ stdout }) => stdout.includes('Continue? [y/N]'), 30_000);
    child.stdin.write('y\n');
    await eventually(output, ({ stdout }) => stdout.includes(question), 30_000);
    child.stdin.write('y\n');
    expect(await ended).toMatchObject({ code: 0, stdout: expect.stringContaining('cancelled 1 of 1 waiting job') });
    expect((await (await bench.longhaul()).find('waits'))?.state).toBe('cancelled');
  });
});
