import { expect, it } from 'vitest';
import type { Job } from '../../core/job/job.ts';
import { stdinFailure } from './command-job.ts';

const sha256 = 'a'.repeat(64);
const file = { name: 'stdin', size: 1, sha256, direction: 'in' } as const;
const failureWith = (stdin: string | null, files: Parameters<typeof stdinFailure>[2]) =>
  stdinFailure({ id: 'film-1' } as Job, { argv: ['sh'], cwd: '/', env: {}, umask: 0, stdin }, files);

it('refuses a command whose standard input is missing or differs from the one that it was allowed with', () => {
  expect(failureWith(sha256, [file])).toBeNull();
  expect(failureWith(null, [])).toBeNull();
  expect(failureWith(sha256, [])).toMatchObject({ group: 'command not allowed' });
  expect(failureWith(sha256, [{ ...file, sha256: 'b'.repeat(64) }])).toMatchObject({ group: 'command not allowed' });
  expect(failureWith(sha256, [{ ...file, direction: 'out' }])).toMatchObject({ group: 'command not allowed' });
});
