/** Maps the error of a call to a code and a message for people. A message has no local address and no stack trace. */

import type { CallTimer } from './call-timer.ts';
import { NOT_ALLOWED } from './guarded-lookup.ts';
import type { OutboundCode, OutboundProblem } from './outbound-call.ts';

export function problem(code: OutboundCode, message: string): OutboundProblem {
  return { code, message };
}

const MESSAGES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed by the other side',
  EPIPE: 'the connection was closed by the other side',
  ENOTFOUND: 'the host does not exist',
  EAI_AGAIN: 'the host name could not be resolved',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ETIMEDOUT: 'the host did not answer',
};

export function failedCall(error: unknown, { ended, message: reason, isConnected }: CallTimer): OutboundProblem {
  if (ended !== null) return problem(ended, reason);
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (code === NOT_ALLOWED) return problem('not-allowed', message);
  const detail = MESSAGES[code] ?? (message === 'aborted' ? MESSAGES.ECONNRESET : message) ?? message;
  return problem(isConnected ? 'cut' : 'unreachable', detail);
}
