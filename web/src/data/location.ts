/**
 * The URL holds the state of the UI (page, filters, selection), so that it can be shared,
 * reloaded and reached with the Back button.
 */
import { useEffect, useState } from 'preact/hooks';
import { basePath } from './base.ts';

export interface Location {
  /** Below the base, without a slash at either end: `q/mail/7`. */
  readonly path: string;
  readonly query: URLSearchParams;
}

const CHANGED = 'longhaul:address';

function here(): Location {
  const path = location.pathname.startsWith(basePath) ? location.pathname.slice(basePath.length) : '';
  return { path: path.replace(/^\/|\/$/g, ''), query: new URLSearchParams(location.search) };
}

export function useLocation(): Location {
  const [place, setPlace] = useState(here);
  useEffect(() => {
    const update = () => setPlace(here());
    addEventListener('popstate', update);
    addEventListener(CHANGED, update);
    return () => {
      removeEventListener('popstate', update);
      removeEventListener(CHANGED, update);
    };
  }, []);
  return place;
}

export function go(path: string, { replace = false }: { replace?: boolean } = {}): void {
  history[replace ? 'replaceState' : 'pushState'](null, '', basePath + path.replace(/^\//, ''));
  dispatchEvent(new Event(CHANGED));
  if (!replace) scrollTo(0, 0);
}

/** Changes the given query parameters and keeps the others; an empty value removes a parameter. */
export function setQuery(changes: Readonly<Record<string, string | null>>): void {
  const { path, query } = here();
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  go(text === '' ? path : `${path}?${text}`, { replace: true });
}

export const queuePath = (queue: string): string => `q/${encodeURIComponent(queue)}`;
export const jobPath = (queue: string, id: string): string => `${queuePath(queue)}/${encodeURIComponent(id)}`;
