import { describe, expect, it } from 'vitest';
import { startFixture } from './processes.ts';

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('a fixture process', () => {
  it('says its pid, gets its arguments and environment, and speaks in lines of JSON', async () => {
    const fixture = await startFixture('echo.mjs', ['one', 'two'], { env: { GREETING: 'hello' } });
    const ready = await fixture.next(({ type }) => type === 'ready');
    expect(ready).toEqual({ type: 'ready', pid: fixture.pid, args: ['one', 'two'], greeting: 'hello' });
    fixture.send({ a: 1 });
    fixture.send({ a: 2 });
    expect(await fixture.next(({ type }) => type === 'echo')).toEqual({ type: 'echo', message: { a: 1 } });
    expect(await fixture.next(({ type }) => type === 'echo')).toEqual({ type: 'echo', message: { a: 2 } });
  });

  it('tells how it ended: exit code, signal', async () => {
    const [first, second] = [await startFixture('echo.mjs'), await startFixture('echo.mjs')];
    first.send({ exit: 3 });
    expect(await first.ended).toEqual({ code: 3, signal: null });
    expect(await second.kill9()).toEqual({ code: null, signal: 'SIGKILL' });
    expect(isAlive(second.pid)).toBe(false);
  });

  it('stands still between stop and cont', async () => {
    const fixture = await startFixture('echo.mjs');
    await fixture.next(({ type }) => type === 'ready');
    fixture.stop();
    fixture.send({ a: 1 });
    await expect(fixture.next(({ type }) => type === 'echo', 200)).rejects.toThrow('did not say');
    fixture.cont();
    expect(await fixture.next(({ type }) => type === 'echo')).toMatchObject({ message: { a: 1 } });
  });

  it('ends a wait for what will never be said, with what was said on stderr', async () => {
    const fixture = await startFixture('no-such-file.mjs');
    await expect(fixture.next(() => true)).rejects.toThrow('Cannot find module');
  });
});
