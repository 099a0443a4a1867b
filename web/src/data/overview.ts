/** The overview, fetched once and shared by the header and the pages. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Overview } from '../../../src/wire/overview.ts';
import type { Query } from './use-query.ts';

export const OverviewContext = createContext<Query<Overview>>({
  data: undefined,
  error: null,
  refresh: () => undefined,
});

export const useOverview = (): Query<Overview> => useContext(OverviewContext);
