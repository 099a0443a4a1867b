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

/** Whether jobs wait in this queue without any worker; in any queue if none is given. False while loading. */
export function useHasNoWorker(queue?: string): boolean {
  const { data } = useOverview();
  return data?.queues.some((row) => row.isWithoutWorker && (queue === undefined || row.name === queue)) ?? false;
}
