/** The LogStore port over HTTP: checks of its arguments and answers. */
import type { Check } from '../core/input/check.ts';
import { fields, flag, integer, listOf, orNull, text } from '../core/input/check.ts';
import { jobId } from '../core/job/names.ts';
import { MAX_LOG_GAPS } from '../core/job/stored-log.ts';
import type { LogAppend, LogQuery } from '../core/ports/log-store.ts';
import { MAX_LOG_APPEND, MAX_LOG_PAGE } from '../core/ports/log-store.ts';
import { orRefused } from './port-answers.ts';
import { ms, whole } from './port-checks.ts';

const MAX_ATTEMPT = 1_000_000_000;

export const LOG_CHECKS: { readonly append: Check<LogAppend>; readonly read: Check<LogQuery> } = {
  append: fields(
    { id: jobId, token: whole, offset: whole, text: text({ max: MAX_LOG_APPEND }) },
    { gap: fields({ from: ms, to: ms }) },
  ),
  read: fields({ id: jobId, attempt: integer(1, MAX_ATTEMPT), from: whole }),
};

export const LOG_ANSWERS = {
  append: orRefused(fields({ ok: flag, end: whole })),
  read: orNull(
    fields({
      text: text({ max: MAX_LOG_PAGE }),
      from: whole,
      to: whole,
      size: whole,
      generation: whole,
      head: whole,
      dropped: whole,
      gaps: listOf(fields({ from: ms, to: ms, offset: whole }), MAX_LOG_GAPS),
    }),
  ),
};
