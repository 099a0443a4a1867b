/** From what went wrong with a call to words that a person can act upon. No address of this machine and no stack goes out. */
import { NOT_ALLOWED } from './guarded-lookup.ts';
import type { OutboundCode, OutboundProblem } from './outbound-call.ts';
import type { Patience } from './patience.ts';

export function problem(code: OutboundCode, message: string): OutboundProblem {
  return { code, message };
}

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name of the host could not be looked up',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ETIMEDOUT: 'the host did not answer',
};

export function failedCall(error: unknown, { ended, words, isThrough }: Patience): OutboundProblem {
  if (ended !== null) return problem(ended, words);
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (code === NOT_ALLOWED) return problem('not-allowed', message);
  const said = WORDS[code] ?? (message === 'aborted' ? 'the connection was cut' : message);
  return problem(isThrough ? 'cut' : 'unreachable', said);
}
