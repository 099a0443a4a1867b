/** How the audit log names actors and subjects. Pure. */
import type { AuditRow } from '../../../src/wire/audit/audit-row.ts';

const ACTORS: Readonly<Record<string, string>> = {
  socket: 'socket of the node',
  loopback: 'this machine, without token',
  'login-link': 'login link',
};

export function actorText(actor: string): string {
  return ACTORS[actor] ?? actor.replace(/^token:/, 'token ');
}

/** Returns the subject in words; the action and its target for a row of an earlier version. */
export function subjectText({ subject, verb, action, target }: AuditRow): string {
  if (verb === undefined) return `${action} ${target}`;
  if (subject == null) return '';
  const { kind, key, name } = subject;
  if (kind === 'queue' && key === '*') return 'the settings of all queues';
  if (kind === 'jobs') return key;
  return `${kind} ${name ?? key}`;
}
