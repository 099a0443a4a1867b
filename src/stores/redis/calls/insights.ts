/** The questions of insight, each to the script that answers it. None of them writes. */
import type {
  InsightKind,
  InsightQuery,
  InsightQueryOf,
  InsightResultOf,
  Insights,
} from '../../../core/ports/insight.ts';
import { MAX_HOLDERS } from '../../../core/ports/insight.ts';
import { dayNumber } from '../../../core/statistics/statistics.ts';
import { SPAN_LETTERS } from '../encoding/layout.ts';
import { readEnds, readFailures, readPrunable, readStorage, readTags } from './read-groups.ts';
import { KIND_LETTERS, readSeries, readStatistics } from './read-statistics.ts';
import { readBrake, readThrottles } from './read-throttles.ts';
import { type Ask, listOf } from './script-runner.ts';

type Answerer<Kind extends InsightKind> = (
  ask: Ask,
  question: InsightQueryOf<Kind>,
) => Promise<Insights[Kind]['result']>;

const ANSWERERS: { readonly [Kind in InsightKind]: Answerer<Kind> } = {
  failures: async (ask, { queue, past = false }) =>
    readFailures(await ask('failures', queue === undefined ? [] : [queue]), past),
  prunable: async (ask, { queue }) => readPrunable(await ask('prunable', queue === undefined ? [] : [queue])),
  ended: async (ask, { queue, state, from, limit }) =>
    readEnds(await ask('ended', [queue, state, String(from), String(limit)])),
  storage: async (ask, { queue }) => readStorage(await ask('storage', queue === undefined ? [] : [queue])),
  tags: async (ask, { limit }) => readTags(await ask('tags', [])).slice(0, limit),
  statistics: async (ask, { queue, from, to, by = 'queue' }) => {
    const days = [from === undefined ? 0 : dayNumber(from), to === undefined ? '' : dayNumber(to)];
    return readStatistics(await ask('statistics', [KIND_LETTERS[by], ...days.map(String), ...(queue ? [queue] : [])]));
  },
  series: async (ask, question) => {
    const { queue, span, from = 0 } = question;
    return readSeries(await ask('series', [SPAN_LETTERS[span], String(from), ...(queue ? [queue] : [])]), question);
  },
  throttles: async (ask) => readThrottles(await ask('throttles', [String(MAX_HOLDERS)])),
  brakes: async (ask, { ids }) => listOf(await ask('wait-reasons', ids)).map(readBrake),
};

export function insight(ask: Ask, question: InsightQuery): Promise<InsightResultOf<InsightQuery>> {
  return (ANSWERERS[question.kind] as Answerer<InsightKind>)(ask, question);
}
