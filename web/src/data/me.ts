/** As whom the node sees the one who looks, and what that one may do: asked for once for the whole page. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Role } from '../../../src/wire/role.ts';
import { allows } from '../../../src/wire/role.ts';
import { useQuery } from './use-query.ts';

export interface Me {
  readonly actor: string;
  readonly role: Role;
  readonly from: string;
  readonly version: string;
}

const SELDOM_MS = 60_000;

export const MeContext = createContext<Me | undefined>(undefined);

/** For the one who gives it to all others. */
export function useAskedMe(): Me | undefined {
  return useQuery<Me>('api/me', { concerns: () => false, everyMs: SELDOM_MS }).data;
}

export const useMe = (): Me | undefined => useContext(MeContext);

/** What is not allowed is not offered. The node decides anyway: a page that is out of date gets its no. */
export function useMay(needs: Role): boolean {
  const me = useMe();
  return me !== undefined && allows(me.role, needs);
}
