import { describe, expect, it } from 'vitest';
import { checked } from '../input/check.ts';
import { readTraceparent, traceparentText, withTraceparent } from './traceparent.ts';

const CONTEXT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const OTHER = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00';
const BAD = [
  '',
  'mine',
  CONTEXT.toUpperCase(),
  `${CONTEXT}-more`,
  CONTEXT.replace('00-', 'ff-'),
  `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
  `00-4bf92f3577b34da6a3ce929d0e0e4736-${'0'.repeat(16)}-01`,
  `${CONTEXT}\n`,
];

describe('a trace context', () => {
  it.each(BAD)('is ignored in a header and refused as an option if it is not valid: %j', (given) => {
    expect(readTraceparent(given)).toBeUndefined();
    expect(() => checked('option', given, traceparentText)).toThrow('option: must');
  });

  it('is read from a header', () => {
    expect([readTraceparent(CONTEXT), readTraceparent(undefined), readTraceparent([CONTEXT])]).toEqual([
      CONTEXT,
      undefined,
      undefined,
    ]);
  });

  it('is kept in the policy of a job, beside the rest, and never replaced', () => {
    const job = { id: 'a', queue: 'q', data: 'null', policy: { retries: 1 } };
    const traced = withTraceparent(job, CONTEXT);
    expect(traced.policy).toEqual({ retries: 1, traceparent: CONTEXT });
    expect(withTraceparent(traced, OTHER)).toBe(traced);
    expect(withTraceparent(job, undefined)).toBe(job);
  });
});
