/** Encodes calls about a list of jobs: for each its id and its fields (request-encoding.ts). */
import type {
  Cancel,
  Heartbeat,
  JobChanges,
  JobQuery,
  Move,
  Requeue,
  Settlement,
} from '../../../core/ports/job-store.ts';
import { field, listValue, RequestFields, textField } from '../encoding/request-encoding.ts';

export function idArguments(ids: readonly string[]): string[] {
  return ids.flatMap((id) => [id, '']);
}

export function heartbeatArguments(heartbeats: readonly Heartbeat[]): string[] {
  const args: string[] = [];
  for (const { id, token, leaseMs, started, progress, checkpoint, data } of heartbeats) {
    const fields =
      field('token', token) +
      field('leaseMs', leaseMs) +
      field('started', started === undefined ? undefined : (started.pid ?? '-')) +
      field('percent', progress === undefined ? undefined : (progress.percent ?? '-')) +
      textField('text', progress?.text ?? undefined);
    new RequestFields(fields).text('v', 'checkpoint', checkpoint).text('d', 'data', data).addTo(args, id);
  }
  return args;
}

export function settleArguments(settlements: readonly Settlement[]): string[] {
  const args: string[] = [];
  for (const settlement of settlements) settleFields(settlement).addTo(args, settlement.id);
  return args;
}

function settleFields(settlement: Settlement): RequestFields {
  const fields = settlement.kind + field('token', settlement.token);
  switch (settlement.kind) {
    case 'complete': {
      const to = settlement.next;
      const next =
        field('next', to?.queue) + field('delayMs', to?.delayMs) + field('dependsOn', to?.dependsOn?.join(' '));
      return new RequestFields(fields + next).text('r', 'result', settlement.result).text('d', 'data', settlement.data);
    }
    case 'fail':
    case 'retry': {
      const { group, message, detail } = settlement.failure;
      const isFinal = settlement.kind === 'fail' && settlement.final === true;
      const failure =
        textField('group', group) + textField('message', message) + field('final', isFinal ? 'yes' : undefined);
      const throttle = settlement.kind === 'retry' ? field('throttle', settlement.throttle) : '';
      return new RequestFields(fields + failure + field('delayMs', settlement.delayMs) + throttle).text(
        't',
        'detail',
        detail,
      );
    }
    case 'resend':
      return new RequestFields(fields + field('delayMs', settlement.delayMs) + textField('reason', settlement.reason));
    case 'release':
    case 'crash':
      return new RequestFields(fields + textField('reason', settlement.reason));
    case 'suspend': {
      const { until, event, children } = settlement;
      const wait = field('until', until ?? undefined) + field('event', event ?? undefined);
      return new RequestFields(fields + wait + field('children', children?.join(' ')));
    }
    case 'forward':
      return new RequestFields(fields + textField('address', settlement.address));
  }
}

export function cancelArguments(targets: readonly Cancel[]): string[] {
  return targets.flatMap(({ id, attempt, dependents }) => [
    id,
    field('attempt', attempt) + field('dependents', dependents),
  ]);
}

export function requeueArguments(requeues: readonly Requeue[]): string[] {
  return requeues.flatMap(({ id, attempt, queue, delayMs, steal, fresh }) => [
    id,
    field('attempt', attempt) +
      field('queue', queue) +
      field('delayMs', delayMs) +
      stealField(steal) +
      field('fresh', fresh === true ? 'yes' : undefined),
  ]);
}

export function moveArguments(moves: readonly Move[]): string[] {
  return moves.flatMap(({ id, attempt, queue, steal }) => [
    id,
    field('attempt', attempt) + field('queue', queue) + stealField(steal),
  ]);
}

const stealField = (steal: boolean | undefined): string => field('steal', steal === true ? 'yes' : undefined);

export function changeArguments(changes: readonly JobChanges[]): string[] {
  const args: string[] = [];
  for (const { id, attempt, priority, tags, runAt, name, data, pause, note, dependsOn } of changes) {
    const fields =
      field('attempt', attempt) +
      field('priority', priority) +
      field('tags', tags === undefined || tags.length === 0 ? undefined : listValue(tags)) +
      field('untag', tags?.length === 0 ? 'yes' : undefined) +
      field('runAt', runAt) +
      textField('name', name) +
      textField('note', note) +
      field('waitFor', dependsOn && (dependsOn.add ?? []).join(' ')) +
      field('partFrom', dependsOn?.remove?.join(' ')) +
      field('pause', pause === undefined ? undefined : pause ? 'yes' : 'no');
    new RequestFields(fields).text('d', 'data', data).addTo(args, id);
  }
  return args;
}

export function queryText(query: JobQuery): string {
  return (
    field('queue', query.queue) +
    field('state', query.state) +
    field('label', query.label) +
    textField('tag', query.tag) +
    textField('name', query.name) +
    textField('worker', query.worker) +
    field('parent', query.parent) +
    field('child', query.child) +
    textField('group', query.group) +
    field('since', query.since) +
    field('before', query.before) +
    field('after', query.after) +
    field('limit', query.limit)
  );
}
