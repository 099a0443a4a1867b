/** As whom the node sees the one who looks. */
import type { Role } from '../../../src/wire/role.ts';
import { useQuery } from './use-query.ts';

export interface Me {
  readonly actor: string;
  readonly role: Role;
  readonly from: string;
  readonly version: string;
}

const SELDOM_MS = 60_000;

export function useMe(): Me | undefined {
  return useQuery<Me>('api/me', { concerns: () => false, everyMs: SELDOM_MS }).data;
}
