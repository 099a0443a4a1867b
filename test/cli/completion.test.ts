/** Completion in a real shell: loads the script, requests completion, and checks the candidates. */
import { beforeAll, describe, expect, it } from 'vitest';
import { hasProgram } from '../processes/runner-workbench.ts';
import { CliBench } from './cli-bench.ts';

const bench = new CliBench();

beforeAll(async () => {
  bench.queue('films', 'true');
  bench.queue('flowers', 'true');
  await bench.run('add', 'films', '--id', 'film-7');
  for (const shell of ['bash', 'zsh']) bench.file(`completion.${shell}`, (await bench.run('completion', shell)).stdout);
});

/** Returns the candidates of bash for these words, of which the last is incomplete. */
const candidates = async (...words: string[]): Promise<string[]> => {
  const quoted = ['longhaul', ...words].map((word) => `'${word}'`).join(' ');
  const line = `source completion.bash; COMP_WORDS=(${quoted}); COMP_CWORD=${words.length}; _longhaul; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = await bench.shell(line);
  expect(stderr).toBe('');
  return stdout.split('\n').filter((word) => word !== '');
};

describe('bash', () => {
  it('loads the script', async () => {
    expect(
      await bench.shell('bash -n completion.bash && source completion.bash && complete -p longhaul'),
    ).toMatchObject({
      code: 0,
      stdout: 'complete -F _longhaul longhaul\n',
    });
  });

  it.each([
    ['a command', ['dr'], ['drain']],
    ['a queue', ['ls', 'fl'], ['flowers']],
    ['a job', ['show', 'film'], ['film-7']],
    ['an option', ['ls', '--st'], ['--state', '--store']],
    ['the value of an option', ['ls', '--state', 'wa'], ['waiting']],
    ['a queue as the value of an option', ['cancel', '--queue', 'fi'], ['films']],
    ['a fixed value', ['completion', 'z'], ['zsh']],
    ['a file', ['add', 'films', '--attach', 'completion.b'], ['completion.bash']],
    ['a file after --', ['run', '--', 'completion.z'], ['completion.zsh']],
    ['a command for help', ['help', 'comp'], ['completion']],
  ])('completes %s', async (_title, words, expected) => {
    expect(await candidates(...words)).toEqual(expected);
  });

  it('offers nothing and prints no error without a data directory', async () => {
    expect(await candidates('ls', '--home', 'nowhere', 'fi')).toEqual([]);
  });
});

describe('zsh', () => {
  it('gets every command with its options', async () => {
    const { stdout } = await bench.run('completion', 'zsh');
    expect(stdout).toMatch(/^#compdef longhaul\n/);
    expect(stdout).toContain(`ls) _arguments '--state[`);
    expect(stdout).toContain('compdef _longhaul longhaul');
  });

  it.runIf(hasProgram('zsh'))('accepts the script', async () => {
    expect(await bench.shell('zsh -n completion.zsh')).toEqual({ code: 0, stdout: '', stderr: '' });
  });
});
