/** The questions of insight over a table. Nothing here writes. */
import type { Moment } from '../clock.ts';
import type { AnswerOf, InsightKind, Insights, Question, QuestionOf } from '../insight.ts';
import type { FailureGroup } from '../job-store.ts';
import type { Table } from '../table.ts';
import { byText } from '../text-order.ts';
import { statistics } from './statistics.ts';

type Answerer<Kind extends InsightKind> = (
  table: Table,
  question: QuestionOf<Kind>,
  moment: Moment,
) => Insights[Kind]['answer'];

const ANSWERERS: { readonly [Kind in InsightKind]: Answerer<Kind> } = {
  failures,
  statistics,
};

export function insight(table: Table, question: Question, moment: Moment): AnswerOf<Question> {
  return (ANSWERERS[question.kind] as Answerer<InsightKind>)(table, question, moment);
}

function failures(table: Table, { queue }: QuestionOf<'failures'>): readonly FailureGroup[] {
  const groups = (queue === undefined ? table.queues() : [queue]).flatMap((name) => table.failures(name));
  return groups.sort((a, b) => b.count - a.count || byText(a.queue, b.queue) || byText(a.group, b.group));
}
