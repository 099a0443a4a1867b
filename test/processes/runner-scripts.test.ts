/** The script API in several languages: real interpreters, real pipes. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AttemptEnd } from '../../src/runner/attempt/attempt.ts';
import { scriptOutcomeOf } from '../../src/runner/attempt/outcome.ts';
import { aFolder, aHome, aRequest, aRunner, compiled, logOf, scripts } from './runner-workbench.ts';

const languages = [
  { name: 'bash', file: 'verbs.sh' },
  { name: 'Python', file: 'verbs.py' },
  { name: 'Perl', file: 'verbs.pl' },
  { name: 'Ruby', file: 'verbs.rb' },
  { name: 'C', file: 'verbs.c' },
];

interface Case {
  readonly name: string;
  /** The outcome with the handshake of RQ. */
  readonly ends: object;
  readonly status: number;
  readonly log?: string | RegExp;
}

const improperly = (completion: string, status: string) => ({
  kind: 'err',
  because: 'exit',
  status: `PROCESS EXITED IMPROPERLY - MOVING TO ERR - Completion was ${completion} but exit status was pid 7 ${status}`,
});

const cases: readonly Case[] = [
  { name: 'done', ends: { kind: 'done', status: 'all of it' }, status: 0, log: 'printed\n' },
  { name: 'err', ends: { kind: 'err', status: 'by design', because: 'said' }, status: 0 },
  { name: 'resend', ends: { kind: 'resend', delayMs: 2_000, reason: 'not-yet', status: '2-not-yet' }, status: 0 },
  { name: 'relayed', ends: { kind: 'relayed', address: 'http://other:3333/q/x/1' }, status: 0 },
  { name: 'dup', ends: { kind: 'done', status: 'with dup' }, status: 0, log: 'got [ok http://h/q/test_nop/7]\n' },
  { name: 'exit-after-done', ends: improperly('done', 'exit 3'), status: 3 },
  { name: 'silent', ends: { kind: 'err', status: null, because: 'silent' }, status: 0, log: 'no word\n' },
  { name: 'split', ends: { kind: 'done', status: 'in two parts' }, status: 0 },
  { name: 'done-then-err', ends: { kind: 'done', status: 'second' }, status: 0 },
  { name: 'close', ends: { kind: 'err', status: 'before', because: 'silent' }, status: 0, log: 'still here\n' },
  { name: 'huge', ends: { kind: 'done', status: 'huge' }, status: 0, log: /^line 1 [^]*\nline 20000 \.+\n$/ },
  { name: 'quiet', ends: { kind: 'err', status: null, because: 'silent' }, status: 0, log: '' },
  { name: 'data', ends: { kind: 'done', status: 'read' }, status: 0, log: '{"a":"ä; $(id)"}' },
  { name: 'killed', ends: improperly('done', 'SIGKILL (signal 9)'), status: 137 },
];

for (const { name, file } of languages) {
  describe(`a script in ${name}`, () => {
    it('reports every verb', async () => {
      const home = aHome();
      const runner = aRunner();
      const script = file.endsWith('.c') ? compiled(file, home) : join(scripts, file);
      const run = async (each: Case) => {
        const folder = aFolder(home);
        const stdin = join(folder, 'data.json');
        writeFileSync(stdin, '{"a":"ä; $(id)"}');
        const request = aRequest(folder, script, { env: { CASE: each.name }, stdin });
        const answer = await runner.start(request, {
          listener: {
            onReports: ({ heard }) => {
              const dup = heard.find(({ verb }) => verb.kind === 'dup');
              if (dup && answer.ok) answer.attempt.answer('ok http://h/q/test_nop/7');
            },
          },
        });
        if (!answer.ok) throw new Error(answer.message);
        return { each, folder, end: await answer.attempt.end };
      };
      const ends = await Promise.all(cases.map(run));
      for (const { each, folder, end } of ends) check(each, folder, end);
    });
  });
}

function check(each: Case, folder: string, { exit, said }: AttemptEnd): void {
  const { name, status, ends, log = /^/ } = each;
  expect({
    name,
    exit,
    ends: scriptOutcomeOf(said, { ...exit!, pid: 7 }, 'required'),
    log: logOf({ folder }),
  }).toMatchObject({
    name,
    exit: { status, areReportsComplete: true },
    ends,
    log: expect.stringMatching(asExpression(log)),
  });
}

const asExpression = (log: string | RegExp): RegExp =>
  typeof log === 'string' ? new RegExp(`^${log.replaceAll(/[[\]{}()*+?.\\^$|]/g, '\\$&')}$`) : log;
