/** Decodes answers about failure groups, tags, storage and what retention would delete. */

import type { Prunable } from '../../../core/lifecycle/prunable.ts';
import { hasSurplus, surplusOf } from '../../../core/lifecycle/prunable.ts';
import type { EndedJob, TagCount } from '../../../core/ports/insight.ts';
import { tagOrder } from '../../../core/ports/insight.ts';
import type { FailureGroup } from '../../../core/ports/job-store.ts';
import type { CurrentFailureGroup } from '../../../core/statistics/failure-trend.ts';
import { groupOrder, withTrends } from '../../../core/statistics/failure-trend.ts';
import type { QueueStorage } from '../../../core/statistics/storage.ts';
import { storageOf } from '../../../core/statistics/storage.ts';
import { FIELD, PART, unescapeText } from '../encoding/layout.ts';
import { linesOf } from './answers.ts';
import { readCells } from './read-statistics.ts';
import { listOf, type ScriptAnswer } from './script-runner.ts';

export function readFailures(answer: ScriptAnswer, past: boolean): FailureGroup[] {
  const [living = '', days = ''] = listOf(answer);
  const groups = linesOf(living, PART).map(readGroup);
  const cells = readCells(days);
  const queues = new Set([...groups, ...cells].map(({ queue }) => queue));
  const all = [...queues].flatMap((queue) =>
    withTrends(queue, {
      groups: groups.filter((group) => group.queue === queue),
      cells: cells.filter((cell) => cell.queue === queue),
      past,
    }),
  );
  return all.sort(groupOrder);
}

function readGroup(line: string): CurrentFailureGroup {
  const [queue = '', group = '', count = '', firstAt = '', lastAt = '', sampleId = ''] = line.split(FIELD);
  return {
    queue,
    group: unescapeText(group),
    count: Number(count),
    firstAt: Number(firstAt),
    lastAt: Number(lastAt),
    sampleId,
  };
}

export function readTags(answer: ScriptAnswer): TagCount[] {
  const tags = linesOf(answer, PART).map((line) => {
    const [tag = '', jobs = ''] = line.split(FIELD);
    return { tag: unescapeText(tag), jobs: Number(jobs) };
  });
  return tags.sort(tagOrder);
}

export function readPrunable(answer: ScriptAnswer): Prunable[] {
  const all = linesOf(answer, PART).map((line) => {
    const [queue = '', kind = '', count = '', bytes = '', old = '', most = '', mostBytes = '', sizes = ''] =
      line.split(FIELD);
    const stock = { total: { count: Number(count), bytes: Number(bytes) }, old: Number(old), oldest: numbersIn(sizes) };
    const keep = { ms: null, count: limitIn(most), bytes: limitIn(mostBytes) };
    return { queue, kind: kind as Prunable['kind'], ...surplusOf(stock, keep) };
  });
  return all.filter(hasSurplus);
}

const numbersIn = (text: string): readonly number[] => linesOf(text, ' ').map(Number);
const limitIn = (text: string): number | null => (text === '' ? null : Number(text));

export function readStorage(answer: ScriptAnswer): QueueStorage[] {
  return linesOf(answer, PART).map((line) => {
    const [queue = '', ...figures] = line.split(FIELD);
    const [done = 0, failed = 0, cancelled = 0, ...rest] = figures.map(Number);
    const [doneBytes = 0, failedBytes = 0, cancelledBytes = 0, results = 0, resultBytes = 0, logs = 0, bytes = 0] =
      rest;
    const sums = { done: doneBytes, failed: failedBytes, cancelled: cancelledBytes, results, resultBytes };
    return storageOf(queue, { done, failed, cancelled }, sums, { count: logs, bytes });
  });
}

export function readEnds(answer: ScriptAnswer): EndedJob[] {
  return linesOf(answer, PART).map((line) => {
    const [id = '', endedAt = ''] = line.split(FIELD);
    return { id, endedAt: Number(endedAt) };
  });
}
