/** Each title is a line of the script API of RQ as its code has it; where Longhaul differs, the title says so. */
import { describe, expect, it } from 'vitest';
import { parseVerb } from '../protocol/parse-verb.ts';
import { addReport, NO_REPORTS } from '../protocol/reports.ts';
import { signalOf } from './attempt-files.ts';
import { type Handshake, scriptOutcomeOf } from './outcome.ts';

function ended(lines: readonly string[], status = 0, handshake: Handshake = 'required') {
  const said = lines.map(parseVerb).reduce(addReport, NO_REPORTS);
  return scriptOutcomeOf(said, { status, signal: signalOf(status), pid: 5824 }, handshake);
}

const improperly = (completion: string, status: string) =>
  `PROCESS EXITED IMPROPERLY - MOVING TO ERR - Completion was ${completion} but exit status was pid 5824 ${status}`;

describe('pipe verbs', () => {
  it('every line first stores TEXT as the status', () => {
    for (const verb of ['run', 'done', 'relayed', 'err', 'fails', 'resend', 'dup', 'what']) {
      expect(addReport(NO_REPORTS, parseVerb(`${verb} 5-X-text`)).status).toBe('5-X-text');
    }
  });

  it('run (and any unknown verb, incl. fail!): status only', () => {
    for (const verb of ['run', 'fail', 'unknown']) {
      expect(addReport(NO_REPORTS, parseVerb(`${verb} x`))).toEqual({ ...NO_REPORTS, status: 'x' });
    }
  });

  it('done, relayed, err/fails: remember completion', () => {
    expect(ended(['done a'])).toEqual({ kind: 'done', status: 'a' });
    expect(ended(['relayed http://b/q/x/1'])).toEqual({
      kind: 'relayed',
      status: 'http://b/q/x/1',
      address: 'http://b/q/x/1',
    });
    expect(ended(['err a'])).toEqual({ kind: 'err', status: 'a', because: 'said' });
    expect(ended(['fails a'])).toEqual({ kind: 'err', status: 'a', because: 'said' });
  });

  it('the first one remembered wins (done then err, exit 0 -> done, but status text is the last)', () => {
    expect(ended(['done first', 'err second'])).toEqual({ kind: 'done', status: 'second' });
    expect(ended(['err first', 'done second'])).toEqual({ kind: 'err', status: 'second', because: 'said' });
    expect(ended(['resend 5-first', 'done second'])).toMatchObject({ kind: 'resend', delayMs: 5_000 });
  });

  it('resend DUE-REASON: completion resend; DUE = to_i of text before first -', () => {
    expect(ended(['resend 300-not-responding'])).toEqual({
      kind: 'resend',
      status: '300-not-responding',
      delayMs: 300_000,
      reason: 'not-responding',
    });
  });

  it('resend: count+1 at once, for each line that asks', () => {
    const said = ['resend 1-a', 'resend 2-b'].map(parseVerb).reduce(addReport, NO_REPORTS);
    expect(said.resends).toBe(2);
  });

  it('dup DUE-FLAG-DEST: no completion, FLAG ignored', () => {
    const said = addReport(NO_REPORTS, parseVerb('dup 0-X-test_nop'));
    expect(said).toEqual({ ...NO_REPORTS, status: '0-X-test_nop' });
  });
});

describe('on exit', () => {
  it('exit != 0 (or signal) and completion != err -> err, with the status of an improper exit', () => {
    expect(ended(['done a'], 1)).toEqual({ kind: 'err', status: improperly('done', 'exit 1'), because: 'exit' });
    expect(ended(['relayed a'], 2)).toMatchObject({ status: improperly('relayed', 'exit 2') });
    expect(ended(['run a'], 1)).toMatchObject({ status: improperly('', 'exit 1') });
    expect(ended([], 137)).toMatchObject({
      kind: 'err',
      status: improperly('', 'SIGKILL (signal 9)'),
      because: 'exit',
    });
  });

  it('exit 0 with done/relayed/resend/err -> that', () => {
    const kinds = ['done', 'relayed', 'resend', 'err'].map((verb) => ended([`${verb} 0-x`]).kind);
    expect(kinds).toEqual(['done', 'relayed', 'resend', 'err']);
  });

  it('exit 0 without any completion -> err (status text = last one, none if never sent)', () => {
    expect(ended(['run a', 'run b'])).toEqual({ kind: 'err', status: 'b', because: 'silent' });
    expect(ended([])).toEqual({ kind: 'err', status: null, because: 'silent' });
  });
});

describe('the verified table', () => {
  it('sneaky done + exit 1 -> err', () => {
    expect(ended(['done sneaky'], 1).kind).toBe('err');
  });

  it('resend + exit 1 -> err (count already 1)', () => {
    expect(ended(['resend 5-x'], 1)).toMatchObject({ kind: 'err', status: improperly('resend', 'exit 1') });
    expect(addReport(NO_REPORTS, parseVerb('resend 5-x')).resends).toBe(1);
  });

  it('no status + exit 0 -> err', () => {
    expect(ended([]).kind).toBe('err');
  });

  it('fail x + exit 0 -> err "x"', () => {
    expect(ended(['fail x'])).toEqual({ kind: 'err', status: 'x', because: 'silent' });
  });

  it('err + exit 3 -> err', () => {
    expect(ended(['err my text'], 3)).toEqual({ kind: 'err', status: 'my text', because: 'said' });
  });

  it('script closing fd 3 then sleeping -> handled at exit, err', () => {
    expect(ended(['run before it was closed'])).toMatchObject({ kind: 'err', because: 'silent' });
  });
});

describe('a queue with an optional handshake', () => {
  it('is done with exit status 0 alone', () => {
    expect(ended([], 0, 'optional')).toEqual({ kind: 'done', status: null });
    expect(ended(['run a'], 0, 'optional')).toEqual({ kind: 'done', status: 'a' });
  });

  it('fails with any other exit status', () => {
    expect(ended([], 1, 'optional')).toEqual({ kind: 'err', status: 'exited with status 1', because: 'exit' });
    expect(ended(['run a'], 3, 'optional')).toMatchObject({ status: 'exited with status 3; its last status: a' });
    expect(ended(['done a'], 1, 'optional')).toMatchObject({ kind: 'err', because: 'exit' });
  });

  it('still uses a reported completion', () => {
    expect(ended(['err a'], 0, 'optional')).toEqual({ kind: 'err', status: 'a', because: 'said' });
    expect(ended(['resend 0-a'], 0, 'optional')).toMatchObject({ kind: 'resend', delayMs: 0 });
  });
});

describe('a script that asks for a retry', () => {
  it('has failed with that delay, whatever its exit status', () => {
    for (const status of [0, 1, 75])
      expect(ended(['throttle api', 'retry 30 HTTP 429', 'done a'], status)).toEqual({
        kind: 'retry',
        status: 'a',
        delayMs: 30_000,
        reason: 'HTTP 429',
      });
    expect(ended(['done a', 'retry 30'])).toMatchObject({ kind: 'done' });
  });
});

describe('a script that waits', () => {
  it('is suspended if it exits with 0, or with the status of longhaul step', () => {
    for (const handshake of ['optional', 'required'] as const)
      for (const status of [0, 75]) {
        const sleep = { kind: 'sleep', delayMs: 60_000 };
        expect(ended(['run a', 'sleep 60'], status, handshake)).toEqual({ kind: 'suspend', status: 'a', wait: sleep });
      }
    expect(ended(['wait x 5', 'done a', 'err b'])).toMatchObject({
      kind: 'suspend',
      wait: { kind: 'wait', name: 'x' },
    });
  });

  it('fails with any other exit status', () => {
    expect(ended(['sleep 60'], 1)).toEqual({ kind: 'err', status: 'exited with status 1', because: 'exit' });
    expect(ended([], 75, 'optional')).toMatchObject({ kind: 'err', because: 'exit' });
  });

  it('has ended otherwise if it reported that before', () => {
    expect(ended(['done a', 'sleep 60'])).toMatchObject({ kind: 'done' });
    expect(ended(['err a', 'sleep 60'])).toMatchObject({ kind: 'err' });
  });

  it('fails if its line is unclear, except where RQ has such a line as a status text', () => {
    const problem = 'sleep 1h: write sleep SECONDS, such as sleep 3600';
    expect(ended(['sleep 1h'], 0, 'optional')).toEqual({ kind: 'err', status: problem, because: 'said' });
    expect(ended(['sleep 1h', 'done'], 0, 'optional')).toMatchObject({ kind: 'done' });
    expect(ended(['wait for disk', 'done all'])).toEqual({ kind: 'done', status: 'all' });
  });
});
