import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { spawnGuarded } from './guarded-process.ts';
import { startFixture } from './processes.ts';

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('a guarded process', () => {
  it('keeps its output for a reader that comes after its end', async () => {
    const child = await spawnGuarded('echo', ['hello']);
    await child.ended;
    await sleep(20);
    let text = '';
    for await (const chunk of child.stdout) text += String(chunk);
    expect(text).toBe('hello\n');
  });
});

describe('a fixture process', () => {
  it('reports its pid, gets its arguments and environment, and exchanges lines of JSON', async () => {
    const fixture = await startFixture('echo.mjs', ['one', 'two'], { env: { GREETING: 'hello' } });
    const ready = await fixture.next(({ type }) => type === 'ready');
    expect(ready).toEqual({ type: 'ready', pid: fixture.pid, args: ['one', 'two'], greeting: 'hello' });
    fixture.send({ a: 1 });
    fixture.send({ a: 2 });
    expect(await fixture.next(({ type }) => type === 'echo')).toEqual({ type: 'echo', message: { a: 1 } });
    expect(await fixture.next(({ type }) => type === 'echo')).toEqual({ type: 'echo', message: { a: 2 } });
  });

  it('reports how it ended: exit code, signal', async () => {
    const [first, second] = [await startFixture('echo.mjs'), await startFixture('echo.mjs')];
    first.send({ exit: 3 });
    expect(await first.ended).toEqual({ code: 3, signal: null });
    expect(await second.kill9()).toEqual({ code: null, signal: 'SIGKILL' });
    expect(isAlive(second.pid)).toBe(false);
  });

  it('is suspended between stop and cont', async () => {
    const fixture = await startFixture('echo.mjs');
    await fixture.next(({ type }) => type === 'ready');
    fixture.stop();
    fixture.send({ a: 1 });
    await expect(fixture.next(({ type }) => type === 'echo', 200)).rejects.toThrow('did not send');
    fixture.cont();
    expect(await fixture.next(({ type }) => type === 'echo')).toMatchObject({ message: { a: 1 } });
  });

  it('fails a wait that times out, with the output on stderr', async () => {
    const fixture = await startFixture('no-such-file.mjs');
    await expect(fixture.next(() => true)).rejects.toThrow('Cannot find module');
  });
});
