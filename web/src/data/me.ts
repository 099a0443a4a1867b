/** The identity and role of the user, fetched once and shared by all components. */
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
  /** The id of the token of the session, if there is one. */
  readonly token: string | null;
  /** False inside another application: the command line cannot reach it by this URL. */
  readonly hasNode: boolean;
  /** The data directory, for admins and users on the same machine. */
  readonly home: string | null;
}

const SLOW_POLL_MS = 60_000;

export const MeContext = createContext<Me | undefined>(undefined);

/** Fetches the identity; used once, by the provider of `MeContext`. */
export function useMeQuery(): Me | undefined {
  return useQuery<Me>('api/me', { concerns: () => false, everyMs: SLOW_POLL_MS }).data;
}

export const useMe = (): Me | undefined => useContext(MeContext);

/** Returns true if the user has at least this role. The UI hides other actions; the node checks every call again. */
export function useHasRole(needs: Role): boolean {
  const me = useMe();
  return me !== undefined && allows(me.role, needs);
}
