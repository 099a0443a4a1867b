/**
 * Writes what the scripts are asked: one list of texts a call. A request is its id and its words; the words are an
 * optional first one and then \x1f name=value for each thing said. Texts that stand apart follow the words.
 */
import type { UniqueKey } from '../../core/job.ts';
import type {
  Heartbeat,
  JobChanges,
  JobQuery,
  Move,
  NewJob,
  Requeue,
  Settlement,
  Target,
} from '../../core/job-store.ts';
import { checksum } from './job-record.ts';
import { escapeText, FIELD, INLINE_LIMIT, PART } from './layout.ts';

type Said = string | number | undefined;

const word = (name: string, value: Said): string => (value === undefined ? '' : `${FIELD}${name}=${value}`);
const textWord = (name: string, value: string | undefined): string =>
  value === undefined ? '' : `${FIELD}${name}=${escapeText(value)}`;

/** A job's tags as one value; an empty list is said by leaving it out. */
const tagsValue = (tags: readonly string[]): string => tags.map(escapeText).join(PART);

/** The words of one request, with the long texts taken out of them. */
class Words {
  #words: string;
  #letters = '';
  readonly #texts: string[] = [];

  constructor(words: string) {
    this.#words = words;
  }

  /** A text that may be long. Data also carries its checksum. */
  text(letter: string, name: string, value: string | null | undefined): this {
    if (value === undefined || value === null) return this;
    const text = (letter === 'd' ? checksum(value) : '') + escapeText(value);
    const isLong = value.length > INLINE_LIMIT;
    this.#words += `${FIELD}${name}=${isLong ? '' : text}`;
    if (!isLong) return this;
    this.#letters += letter;
    this.#texts.push(text);
    return this;
  }

  addTo(args: string[], id: string): void {
    args.push(id, this.#words + word('apart', this.#letters === '' ? undefined : this.#letters), ...this.#texts);
  }
}

// ── adding ───────────────────────────────────────────────────────────────────────────────────────────────────

interface Run {
  readonly head: string;
  readonly args: string[];
  count: number;
}

/** Jobs that are alike but for id and data follow one another under one head. */
export function addArguments(jobs: readonly NewJob[]): string[] {
  const runs: Run[] = [];
  for (const job of jobs) {
    const isLong = job.data.length > INLINE_LIMIT;
    const fields = isBare(job) ? '' : birthFields(job);
    const head = `${isPlain(job) && !isLong ? 'plain' : 'special'} ${job.queue}${fields}${isLong ? `${FIELD}apart=d` : ''}`;
    let run = runs.at(-1);
    if (run?.head !== head) {
      run = { head, args: [], count: 0 };
      runs.push(run);
    }
    run.count += 1;
    const data = checksum(job.data) + escapeText(job.data);
    run.args.push(job.id, `${FIELD}:${isLong ? '' : data}`);
    if (isLong) run.args.push(data);
  }
  return runs.flatMap(runArguments);
}

function runArguments({ head, args, count }: Run): string[] {
  const fieldsAt = head.indexOf(FIELD);
  const [kind = '', queue = ''] = (fieldsAt < 0 ? head : head.slice(0, fieldsAt)).split(' ');
  return [kind, queue, fieldsAt < 0 ? '' : head.slice(fieldsAt), String(count), ...args];
}

const isBare = (job: NewJob): boolean => job.name === undefined && job.policy === undefined && isPlain(job);

function isPlain(job: NewJob): boolean {
  const isNow = job.runAt === undefined && (job.delayMs === undefined || job.delayMs === 0);
  const hasTags = job.tags !== undefined && job.tags.length > 0;
  return isNow && !hasTags && job.priority === undefined && job.unique === undefined && job.draft !== true;
}

function birthFields(job: NewJob): string {
  const { policy, tags, unique } = job;
  return (
    textWord('name', job.name) +
    word('priority', job.priority) +
    word('runAt', job.runAt) +
    word('delayMs', job.delayMs) +
    word('draft', job.draft === true ? 'yes' : undefined) +
    word('tags', tags === undefined || tags.length === 0 ? undefined : tagsValue(tags)) +
    word('unique', unique === undefined ? undefined : uniqueValue(unique)) +
    textWord('policy', policy === undefined ? undefined : JSON.stringify(policy)) +
    word('retries', policy?.retries) +
    word('maxResends', policy?.maxResends)
  );
}

const uniqueValue = ({ scope, until, periodMs, key }: UniqueKey): string =>
  `${scope} ${until} ${periodMs} ${escapeText(key)}`;

// ── requests in a list ───────────────────────────────────────────────────────────────────────────────────────

export function idArguments(ids: readonly string[]): string[] {
  return ids.flatMap((id) => [id, '']);
}

export function heartbeatArguments(beats: readonly Heartbeat[]): string[] {
  const args: string[] = [];
  for (const { id, token, leaseMs, started, progress, checkpoint, data } of beats) {
    const words =
      word('token', token) +
      word('leaseMs', leaseMs) +
      word('started', started === undefined ? undefined : (started.pid ?? '-')) +
      word('percent', progress === undefined ? undefined : (progress.percent ?? '-')) +
      textWord('text', progress?.text ?? undefined);
    new Words(words).text('v', 'checkpoint', checkpoint).text('d', 'data', data).addTo(args, id);
  }
  return args;
}

export function settleArguments(settlements: readonly Settlement[]): string[] {
  const args: string[] = [];
  for (const settlement of settlements) settleWords(settlement).addTo(args, settlement.id);
  return args;
}

function settleWords(said: Settlement): Words {
  const words = said.kind + word('token', said.token);
  switch (said.kind) {
    case 'complete': {
      const next = word('next', said.next?.queue) + word('delayMs', said.next?.delayMs);
      return new Words(words + next).text('r', 'result', said.result).text('d', 'data', said.data);
    }
    case 'fail':
    case 'retry': {
      const { group, message, detail } = said.failure;
      const isFinal = said.kind === 'fail' && said.final === true;
      const failure =
        textWord('group', group) + textWord('message', message) + word('final', isFinal ? 'yes' : undefined);
      return new Words(words + failure + word('delayMs', said.delayMs)).text('t', 'detail', detail);
    }
    case 'resend':
      return new Words(words + word('delayMs', said.delayMs) + textWord('reason', said.reason));
    case 'release':
    case 'crash':
      return new Words(words + textWord('reason', said.reason));
    case 'forward':
      return new Words(words + textWord('address', said.address));
  }
}

export function targetArguments(targets: readonly Target[]): string[] {
  return targets.flatMap(({ id, attempt }) => [id, word('attempt', attempt)]);
}

export function requeueArguments(requeues: readonly Requeue[]): string[] {
  return requeues.flatMap(({ id, attempt, queue, delayMs }) => [
    id,
    word('attempt', attempt) + word('queue', queue) + word('delayMs', delayMs),
  ]);
}

export function moveArguments(moves: readonly Move[]): string[] {
  return moves.flatMap(({ id, attempt, queue, steal }) => [
    id,
    word('attempt', attempt) + word('queue', queue) + word('steal', steal === true ? 'yes' : undefined),
  ]);
}

export function changeArguments(changes: readonly JobChanges[]): string[] {
  const args: string[] = [];
  for (const { id, attempt, priority, tags, runAt, name, data, pause } of changes) {
    const words =
      word('attempt', attempt) +
      word('priority', priority) +
      word('tags', tags === undefined || tags.length === 0 ? undefined : tagsValue(tags)) +
      word('untag', tags?.length === 0 ? 'yes' : undefined) +
      word('runAt', runAt) +
      textWord('name', name) +
      word('pause', pause === undefined ? undefined : pause ? 'yes' : 'no');
    new Words(words).text('d', 'data', data).addTo(args, id);
  }
  return args;
}

export function queryWords(query: JobQuery): string {
  return (
    word('queue', query.queue) +
    word('state', query.state) +
    word('label', query.label) +
    textWord('tag', query.tag) +
    textWord('name', query.name) +
    textWord('worker', query.worker) +
    textWord('group', query.group) +
    word('since', query.since) +
    word('before', query.before) +
    word('after', query.after) +
    word('limit', query.limit)
  );
}
