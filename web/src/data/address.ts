/**
 * The address bar is the page's state: what is shown, filtered and selected stands in it, so that it can be shared,
 * reloaded and gone back from.
 */
import { useEffect, useState } from 'preact/hooks';
import { basePath } from './base.ts';

export interface Place {
  /** Below the base, without a slash at either end: `q/mail/7`. */
  readonly path: string;
  readonly query: URLSearchParams;
}

const CHANGED = 'longhaul:address';

function here(): Place {
  const path = location.pathname.startsWith(basePath) ? location.pathname.slice(basePath.length) : '';
  return { path: path.replace(/^\/|\/$/g, ''), query: new URLSearchParams(location.search) };
}

export function usePlace(): Place {
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

/** Changes some of the query and leaves the rest; an empty value takes its name away. */
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
