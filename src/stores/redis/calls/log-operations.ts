/** The LogStore port over scripts. */
import type { LogAppend, LogPage, LogQuery, LogStore, RestoredLog, StoredGap } from '../../../core/ports/log-store.ts';
import { MAX_LOG_PAGE } from '../../../core/ports/log-store.ts';
import { refusalIn } from './answers.ts';
import { listOf, type Operation } from './script-runner.ts';

type Result<Name extends keyof LogStore> = Awaited<ReturnType<LogStore[Name]>>;

const append: Operation<LogAppend, Result<'append'>> = async (scripts, { id, token, offset, text, gap }, now) => {
  const lost = gap === undefined ? '' : `${gap.from}-${gap.to}`;
  const answer = String(await scripts.run('log-append', [id, String(token), String(offset), lost, text], now));
  return refusalIn(answer, `job ${id}`) ?? { ok: true, end: Number(answer) };
};

const read: Operation<LogQuery, Result<'read'>> = async (scripts, { id, attempt, from }, now) => {
  const answer = listOf(await scripts.run('log-read', [id, String(attempt), String(from), String(MAX_LOG_PAGE)], now));
  return answer.length === 0 ? null : readPage(answer);
};

const restore: Operation<RestoredLog, void> = async (scripts, { id, attempt, queue, at, text }, now) => {
  await scripts.run('log-restore', [id, String(attempt), queue, String(at), text], now);
};

export const LOG_OPERATIONS = { 'logs.append': append, 'logs.read': read, 'logs.restore': restore } as const;

function readPage([text = '', ...rest]: readonly string[]): LogPage {
  const [from = 0, to = 0, size = 0, generation = 0, head = 0, dropped = 0] = rest.slice(0, 6).map(Number);
  return { text, from, to, size, generation, head, dropped, gaps: readGaps(rest[6] ?? '') };
}

function readGaps(text: string): readonly StoredGap[] {
  return text
    .split(',')
    .slice(0, -1)
    .map((each) => {
      const [from = 0, to = 0, offset = 0] = each.split('-').map(Number);
      return { from, to, offset };
    });
}
