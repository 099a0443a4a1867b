/** The queries of `insight`, each with the script that answers it. None of them writes. */
import type {
  InsightKind,
  InsightQuery,
  InsightQueryOf,
  InsightResultOf,
  Insights,
} from '../../../core/ports/insight.ts';
import { MAX_BUCKETS, MAX_HOLDERS } from '../../../core/ports/insight.ts';
import { dayNumber } from '../../../core/statistics/statistics.ts';
import { SPAN_LETTERS } from '../encoding/layout.ts';
import { readEnds, readFailures, readPrunable, readStorage, readTags } from './read-groups.ts';
import { KIND_LETTERS, readSeries, readStatistics } from './read-statistics.ts';
import { readThrottles, readWaitReason } from './read-throttles.ts';
import { listOf, type Operation, type ScriptRunner } from './script-runner.ts';

type Reader<Kind extends InsightKind> = Operation<InsightQueryOf<Kind>, Insights[Kind]['result']>;

const READERS: { readonly [Kind in InsightKind]: Reader<Kind> } = {
  failures: async (scripts, { queue, past = false }, now) =>
    readFailures(await scripts.run('failures', optional(queue), now), past),
  prunable: async (scripts, { queue }, now) => readPrunable(await scripts.run('prunable', optional(queue), now)),
  ended: async (scripts, { queue, state, from, limit }, now) =>
    readEnds(await scripts.run('ended', [queue, state, String(from), String(limit)], now)),
  stalled: async (scripts, { queue, limit }, now) =>
    readEnds(await scripts.run('ended', [queue, 'running', '0', String(limit)], now)).map(({ id, endedAt }) => ({
      id,
      until: endedAt,
    })),
  storage: async (scripts, { queue }, now) => readStorage(await scripts.run('storage', optional(queue), now)),
  tags: async (scripts, { limit }, now) => readTags(await scripts.run('tags', [], now)).slice(0, limit),
  statistics: async (scripts, { queue, from, to, by = 'queue' }, now) => {
    const days = [from === undefined ? 0 : dayNumber(from), to === undefined ? '' : dayNumber(to)].map(String);
    return readStatistics(await scripts.run('statistics', [KIND_LETTERS[by], ...days, ...optional(queue)], now));
  },
  series: async (scripts, query, now) => {
    const args = [SPAN_LETTERS[query.span], String(query.from ?? 0), ...optional(query.queue)];
    return readSeries(await scripts.run('series', args, now), query);
  },
  throttles: async (scripts, _query, now) =>
    readThrottles(await scripts.run('throttles', [MAX_HOLDERS, MAX_BUCKETS].map(String), now)),
  brakes: async (scripts, { ids }, now) => listOf(await scripts.run('wait-reasons', ids, now)).map(readWaitReason),
};

const optional = (queue: string | undefined): readonly string[] => (queue === undefined ? [] : [queue]);

export function insight(
  scripts: ScriptRunner,
  query: InsightQuery,
  now?: number,
): Promise<InsightResultOf<InsightQuery>> {
  return (READERS[query.kind] as Reader<InsightKind>)(scripts, query, now);
}
