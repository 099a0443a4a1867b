/** Checks of single jobs: lost, twice, stuck, thrown away, and the agreement of a job with its history. Pure. */
import { isEnded } from '../../../src/core/job/job.ts';
import { checkHistory } from '../../faults/check-history.ts';
import { type HandlerRun, killOf, type LedgerEntry, runsOf } from '../../faults/ledger.ts';
import { type Check, type CheckName, type Evidence, type Finding, processFaults } from './evidence.ts';

const findings = (check: CheckName, texts: readonly string[]): readonly Finding[] =>
  texts.map((text) => ({ check, text }));

const ofType = ({ entries }: Evidence, type: string): readonly LedgerEntry[] =>
  entries.filter((entry) => entry.type === type);

/** An add was confirmed, and the store does not have the job. A deleted queue takes its jobs with it. */
export const checkLost: Check = (evidence) => {
  const present = new Set(evidence.jobs.map(({ job }) => job.id));
  const deletions = ofType(evidence, 'queue-deleted');
  const isDeleted = ({ queue, at }: LedgerEntry): boolean =>
    deletions.some((deletion) => deletion.queue === queue && deletion.at > at);
  const missing = ofType(evidence, 'acked').filter((ack) => !present.has(ack.id ?? ''));
  const lost = missing.filter((ack) => !isDeleted(ack) && !isInCut(ack, evidence));
  return findings(
    'lost',
    lost.map(({ id, queue, at }) => `${id} of ${queue} was confirmed at ${Math.round(at)} and is not in the store`),
  );
};

/** An answer during a power cut may be older than the cut or not: what it confirmed may be gone. */
const isInCut = ({ at }: LedgerEntry, { faults }: Evidence): boolean =>
  faults.some(({ effect, from, to }) => effect === 'power' && from <= at && at <= to);

/** A job was completed twice, or its id was added twice as a new job. */
export const checkTwice: Check = (evidence) => {
  const { problems } = checkHistory({ acked: [], unanswered: idsOf(evidence), histories: evidence.jobs });
  const accepted = ofType(evidence, 'answered').filter(({ kind, answer }) => kind === 'complete' && answer === 'ok');
  const tokens = new Map<string, Set<number>>();
  for (const { id = '', token = 0 } of accepted) tokens.set(id, (tokens.get(id) ?? new Set()).add(token));
  const answers = [...tokens]
    .filter(([, each]) => each.size > 1)
    .map(([id, each]) => `${id} under ${[...each].join()}`);
  const added = new Map<string, number>();
  for (const ack of ofType(evidence, 'acked')) {
    const { id = '', outcome } = ack;
    if (outcome === 'added' && !isInCut(ack, evidence)) added.set(id, (added.get(id) ?? 0) + 1);
  }
  const again = [...added].filter(([, times]) => times > 1).map(([id, times]) => `${id} was new in ${times} adds`);
  return findings('twice', [
    ...problems.filter((problem) => /^I[23] /.test(problem)),
    ...answers.map((answer) => `workers were told that they completed ${answer}`),
    ...again,
  ]);
};

/** A job has not ended although all faults are over and the workers had time to run it. */
export const checkStuck: Check = ({ jobs }) =>
  findings(
    'stuck',
    jobs
      .filter(({ job }) => !isEnded(job.state))
      .map(({ job, rows }) => `${job.id} of ${job.queue} is ${job.state} after ${rows.at(-1)?.event ?? 'nothing'}`),
  );

/** The result of an accepted run is not the result of the job, or a run that ended was never settled. */
export const checkThrownAway: Check = (evidence) => {
  const runs = runsOf(evidence.entries).filter(({ outcome }) => outcome === 'end');
  const faults = processFaults(evidence);
  const workers = new Set(ofType(evidence, 'ready').map(({ pid }) => pid));
  const exited = new Set(ofType(evidence, 'exited').map(({ child }) => child));
  const answered = new Set(ofType(evidence, 'answered').map(({ id, token }) => `${id} ${token}`));
  const jobs = new Map(evidence.jobs.map((stored) => [stored.job.id, stored]));
  const texts = runs.flatMap((run) => {
    const { id, token, pid } = run;
    const rows = jobs.get(id)?.rows ?? [];
    const isKnown = rows.some((row) => row.token === token && row.event !== 'claimed' && row.event !== 'lost');
    // The outcome of a script is its node's to settle, and nodes have no ledger.
    const wasHit = !workers.has(pid) || killOf(run, faults) !== undefined || faults.stopped.has(pid) || exited.has(pid);
    if (isKnown || wasHit || answered.has(`${id} ${token}`) || !jobs.has(id)) return [];
    return [`the run of ${id} under token ${token} ended, its process lived, and its outcome is not in the store`];
  });
  return findings('thrown away', [...texts, ...wrongResults(evidence)]);
};

/** Handlers and scripts return their token: the result of a job names the run that was accepted. */
function wrongResults({ jobs }: Evidence): readonly string[] {
  return jobs.flatMap(({ job, rows }) => {
    const completed = rows.findLast(({ event }) => event === 'completed');
    if (job.state !== 'done' || completed === undefined || job.result === String(completed.token)) return [];
    return [`${job.id} was completed under token ${completed.token}, and its result is ${job.result}`];
  });
}

/** SQLite syncs the claim of a handler at most this much later than it is answered. */
const SYNCED_WITHIN_MS = 1_000;

/** Returns the runs but those of handlers whose claim a power cut may have undone: no row of the job has their token. */
function keptRuns({ entries, faults, jobs }: Evidence): readonly HandlerRun[] {
  const cuts = faults.filter(({ effect }) => effect === 'power');
  const handlers = new Set(entries.filter(({ type }) => type === 'ready').map(({ pid }) => pid));
  const rowsOf = new Map(jobs.map(({ job, rows }) => [job.id, rows]));
  const isUndone = ({ id, token, pid, startedAt }: HandlerRun): boolean =>
    handlers.has(pid) &&
    cuts.some(({ from, to }) => startedAt > from - SYNCED_WITHIN_MS && startedAt < to) &&
    !(rowsOf.get(id) ?? []).some((row) => row.token === token);
  return runsOf(entries).filter((run) => !isUndone(run));
}

/** A history is not one that the rules allow, differs from its job, or lacks a run that a handler recorded. */
export const checkHistories: Check = (evidence) => {
  const runs = keptRuns(evidence);
  const present = new Set(evidence.jobs.map(({ job }) => job.id));
  const { problems } = checkHistory({
    acked: [],
    unanswered: idsOf(evidence),
    histories: evidence.jobs,
    runs: runs.filter(({ id }) => present.has(id)),
  });
  return findings(
    'history',
    problems.filter((problem) => !/^I[123] /.test(problem)),
  );
};

const idsOf = ({ jobs }: Evidence): readonly string[] => jobs.map(({ job }) => job.id);
