/**
 * Where the node's page begins. Behind a proxy that is any folder of any host; the script's own address tells, since it
 * always lies one folder below.
 */
const here = new URL(import.meta.url);
const isBuilt = here.pathname.includes('/assets/');

/** Path with a slash at its end: `/`, or `/jobs/` behind a proxy. */
export const basePath = isBuilt ? new URL('..', here).pathname : '/';

/** Address of something of the node's, such as `api/jobs`. */
export function addressOf(path: string): string {
  return basePath + path.replace(/^\//, '');
}
