/** Writes what the scripts are asked about a list of jobs: for each its id and its words (words.ts). */
import type {
  Cancel,
  Heartbeat,
  JobChanges,
  JobQuery,
  Move,
  Requeue,
  Settlement,
} from '../../../core/ports/job-store.ts';
import { listValue, textWord, Words, word } from '../encoding/request-encoding.ts';

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
      const to = said.next;
      const next = word('next', to?.queue) + word('delayMs', to?.delayMs) + word('dependsOn', to?.dependsOn?.join(' '));
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

export function cancelArguments(targets: readonly Cancel[]): string[] {
  return targets.flatMap(({ id, attempt, dependents }) => [
    id,
    word('attempt', attempt) + word('dependents', dependents),
  ]);
}

export function requeueArguments(requeues: readonly Requeue[]): string[] {
  return requeues.flatMap(({ id, attempt, queue, delayMs, steal }) => [
    id,
    word('attempt', attempt) + word('queue', queue) + word('delayMs', delayMs) + stealWord(steal),
  ]);
}

export function moveArguments(moves: readonly Move[]): string[] {
  return moves.flatMap(({ id, attempt, queue, steal }) => [
    id,
    word('attempt', attempt) + word('queue', queue) + stealWord(steal),
  ]);
}

const stealWord = (steal: boolean | undefined): string => word('steal', steal === true ? 'yes' : undefined);

export function changeArguments(changes: readonly JobChanges[]): string[] {
  const args: string[] = [];
  for (const { id, attempt, priority, tags, runAt, name, data, pause, note, dependsOn } of changes) {
    const words =
      word('attempt', attempt) +
      word('priority', priority) +
      word('tags', tags === undefined || tags.length === 0 ? undefined : listValue(tags)) +
      word('untag', tags?.length === 0 ? 'yes' : undefined) +
      word('runAt', runAt) +
      textWord('name', name) +
      textWord('note', note) +
      word('waitFor', dependsOn && (dependsOn.add ?? []).join(' ')) +
      word('partFrom', dependsOn?.remove?.join(' ')) +
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
    word('parent', query.parent) +
    word('child', query.child) +
    textWord('group', query.group) +
    word('since', query.since) +
    word('before', query.before) +
    word('after', query.after) +
    word('limit', query.limit)
  );
}
