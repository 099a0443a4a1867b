/** The answer of an application to "who asks?". In a file of its own, because the published declarations include it. */
import type { Role } from '../wire/role.ts';

/** What `authorize` returns: a role, alone or with a name for the audit log; null to refuse the request. */
export type Authorized = Role | { readonly role: Role; readonly actor: string } | null;
