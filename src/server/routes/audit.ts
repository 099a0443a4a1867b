/** Pages of the audit log. No route writes it: only audited operations do. */
import { fields, listOf, orNull, text } from '../../core/input/check.ts';
import type { AuditRow } from '../../wire/audit/audit-row.ts';
import { AUDIT_RECORD, auditRow } from '../auth/audit.ts';
import { readValue } from '../auth/tokens.ts';
import { limitOf, pageLimit } from '../http/query-checks.ts';
import { json } from '../http/reply.ts';
import { type Route, route } from '../http/route.ts';

const cursor = text({ max: 50, pattern: /^[0-9a-f-]{1,50}$/, must: 'must be the `next` of the previous page' });

export const auditRoutes: readonly Route[] = [
  route({
    name: 'audit.list',
    method: 'GET',
    path: '/api/audit',
    about:
      'Lists the operations of operators and admins of the last 90 days, newest first. `next` is the next `after`.',
    role: 'admin',
    query: { after: cursor, limit: pageLimit },
    answer: fields({ rows: listOf(auditRow, 500), next: orNull(cursor) }),
    handle: async ({ query, context }) => {
      const limit = limitOf(query);
      const after = query.after === undefined ? {} : { after: query.after };
      const page = await context.store.records.list({ kind: AUDIT_RECORD, limit, ...after });
      const rows = page.map(({ value }) => readValue(value, auditRow)).filter((row): row is AuditRow => row !== null);
      return json({ rows, next: page.length < limit ? null : (page.at(-1)?.key ?? null) });
    },
  }),
];
