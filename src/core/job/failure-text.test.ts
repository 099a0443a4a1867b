import { describe, expect, it } from 'vitest';
import { failureOf, markStep } from './failure.ts';
import { failureText } from './failure-text.ts';

describe('the text of a failure', () => {
  it.each([
    ['TypeError: no such file', 'no such file', 'TypeError: no such file'],
    ['exit 3: row * is bad', 'row 17 is bad', 'exit 3: row 17 is bad'],
    ['by design', 'by design', 'by design'],
    ['row * is bad', 'row 17 is bad', 'row 17 is bad'],
    ['quota', '507 of 1000', 'quota: 507 of 1000'],
    ['out of memory', 'out of memory: its processes used 9 MB', 'out of memory: its processes used 9 MB'],
    ['no route', 'cannot reach db-2: no route', 'cannot reach db-2: no route'],
    ['exit 3', 'exited with status 3', 'exited with status 3'],
    ['step upload: exit 9', 'step upload: exited with status 9', 'step upload: exited with status 9'],
    ['step upload: exit 9: no disk *', 'step upload: no disk 7', 'step upload: no disk 7'],
    ['killed by SIGKILL', 'exited with status 137', 'killed by SIGKILL: exited with status 137'],
    ['Error', '', 'Error'],
  ])('of the group "%s" with the message "%s" is "%s"', (group, message, text) => {
    expect(failureText({ group, message })).toBe(text);
  });

  it('has the whole message where the group is cut', () => {
    const message = `cannot read ${'x'.repeat(300)}`;
    expect(failureText(failureOf(new RangeError(message)))).toBe(`RangeError: ${message}`);
  });

  it('names a repeated step once', () => {
    const error = new Error('no disk 7');
    markStep(error, 'encode#2');
    expect(failureText(failureOf(error))).toBe('Error: step encode#2: no disk 7');
  });
});
