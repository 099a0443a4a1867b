/** Runs every check on the evidence. Pure. */
import { checkHistories, checkLost, checkStuck, checkThrownAway, checkTwice } from './check-jobs.ts';
import { checkLogLines, checkProcesses, checkStatistics } from './check-records.ts';
import { checkLimits, checkOverlap, checkSteps } from './check-runs.ts';
import type { Check, CheckName, Evidence, Finding } from './evidence.ts';

export const CHECKS: Readonly<Record<CheckName, Check>> = {
  lost: checkLost,
  twice: checkTwice,
  overlap: checkOverlap,
  stuck: checkStuck,
  'thrown away': checkThrownAway,
  history: checkHistories,
  statistics: checkStatistics,
  limits: checkLimits,
  'log lines': checkLogLines,
  processes: checkProcesses,
  steps: checkSteps,
};

export const checkAll = (evidence: Evidence): readonly Finding[] =>
  Object.values(CHECKS).flatMap((check) => check(evidence));
