/** The questions of insight over a table. Nothing here writes. */
import type { Moment } from '../clock.ts';
import { groupOrder, withTrends } from '../failure-trend.ts';
import type { AnswerOf, InsightKind, Insights, Question, QuestionOf } from '../insight.ts';
import type { FailureGroup } from '../job-store.ts';
import { dayOf } from '../statistics.ts';
import type { Table } from '../table.ts';
import { prunable } from './retention.ts';
import { keptCells, series, statistics } from './statistics.ts';
import { brakes, throttles } from './throttle-looks.ts';

type Answerer<Kind extends InsightKind> = (
  table: Table,
  question: QuestionOf<Kind>,
  moment: Moment,
) => Insights[Kind]['answer'];

const ANSWERERS: { readonly [Kind in InsightKind]: Answerer<Kind> } = {
  failures,
  statistics,
  series,
  prunable,
  ended: (table, { queue, state, from, limit }) =>
    table.oldestEnded(queue, state, { from, limit }).map(({ id, endedAt }) => ({ id, endedAt: endedAt ?? 0 })),
  storage: (table, { queue }) => (queue === undefined ? table.queues() : [queue]).map((name) => table.storage(name)),
  tags: (table, { limit }) => table.topTags(limit),
  throttles,
  brakes,
};

export function insight(table: Table, question: Question, moment: Moment): AnswerOf<Question> {
  return (ANSWERERS[question.kind] as Answerer<InsightKind>)(table, question, moment);
}

function failures(table: Table, question: QuestionOf<'failures'>, { now }: Moment): readonly FailureGroup[] {
  const { queue, past = false } = question;
  const groups = (queue === undefined ? table.queues() : [queue]).flatMap((name) => {
    const cells = keptCells(table, name, { from: 0, to: dayOf(now), now }).filter(({ kind }) => kind === 'group');
    return withTrends(name, { groups: table.failures(name), cells, past });
  });
  return groups.sort(groupOrder);
}
