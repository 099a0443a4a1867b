/**
 * The base path of the web UI. Behind a proxy it can be any path. It is derived from the URL of this script, which
 * always lies one folder below it.
 */
const here = new URL(import.meta.url);
const isBuilt = here.pathname.includes('/assets/');

/** Path with a slash at its end: `/`, or `/jobs/` behind a proxy. */
export const basePath = isBuilt ? new URL('..', here).pathname : '/';

/** Returns the URL path of a resource of the node, such as `api/jobs`. */
export function addressOf(path: string): string {
  return basePath + path.replace(/^\//, '');
}
