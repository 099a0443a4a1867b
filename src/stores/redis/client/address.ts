/**
 * Parses a store's address: one server, the Sentinels that know the primary, or nodes of a cluster.
 *
 *     redis://user:password@host:6379/0          rediss://…             one server
 *     redis+sentinel://host:26379,host:26379/name/0   rediss+sentinel://…    the primary that Sentinels call so
 *     redis+cluster://host:6379,host:6379        rediss+cluster://…     the node that has the namespace's slot
 *
 * It must never repeat an address in a problem: it may hold a password.
 */
import type { Problem } from '../../../core/ports/errors.ts';

/** Where something listens. */
export interface Place {
  readonly host: string;
  readonly port: number;
}

export type Layout = 'single' | 'sentinel' | 'cluster';

export interface Address {
  readonly layout: Layout;
  readonly isTls: boolean;
  /** The server, Sentinels or nodes, in the order in which they were named. */
  readonly places: readonly Place[];
  /** What Sentinels call the primary; empty elsewhere. */
  readonly name: string;
  readonly db: number;
  readonly username: string;
  readonly password: string;
  readonly query: URLSearchParams;
}

const FORM = /^redis(s?)(?:\+(sentinel|cluster))?:\/\/(?:([^@/?#]*)@)?([^@/?#]*)(\/[^?#]*)?(?:\?([^#]*))?$/i;
const PLACE = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/i;
const PORTS: Readonly<Record<Layout, number>> = { single: 6_379, sentinel: 26_379, cluster: 6_379 };
const DATABASE = /^\d{1,5}$/;
const SHAPES =
  'must be redis://host:port, redis+sentinel://host:port,host:port/name or redis+cluster://host:port,host:port; rediss for TLS';

/** Undefined when it is none of these; what is wrong is then among the problems. */
export function parseAddress(text: string, problems: Problem[]): Address | undefined {
  const found = FORM.exec(text);
  const wrong = (message: string): undefined => void problems.push({ path: 'url', message });
  if (found === null) return wrong(SHAPES);
  const [, secure, kind, login = '', hosts = '', path = '', query = ''] = found;
  const layout = (kind?.toLowerCase() ?? 'single') as Layout;
  const places = hosts.split(',').map((host) => placeOf(host, PORTS[layout]));
  if (places.includes(null)) return wrong('each host must be a name or an address, and may have a port: host:6379');
  if (layout === 'single' && places.length > 1)
    return wrong('names several hosts: say redis+sentinel:// or redis+cluster://');
  const rest = restOf(layout, path, login);
  if (typeof rest === 'string') return wrong(rest);
  const isTls = secure !== '';
  return { layout, isTls, places: places as Place[], query: new URLSearchParams(query), ...rest };
}

function placeOf(text: string, usualPort: number): Place | null {
  const [, host, port] = PLACE.exec(text.trim()) ?? [];
  if (host === undefined || Number(port) > 65_535) return null;
  return { host: host.replace(/^\[(.*)\]$/, '$1'), port: port === undefined ? usualPort : Number(port) };
}

type Rest = Pick<Address, 'name' | 'db' | 'username' | 'password'>;

function restOf(layout: Layout, path: string, login: string): Rest | string {
  const [first = '', second = '', ...others] = path.split('/').slice(1);
  const [name, db] = layout === 'sentinel' ? [first, second] : ['', first];
  if (others.length > 0 || (layout !== 'sentinel' && second !== '')) return 'has too many parts after the host';
  if (layout === 'sentinel' && name === '') return 'must end with what Sentinel calls the primary: …:26379/mymaster';
  if (layout === 'cluster' && db !== '') return 'names a database, and a cluster has one only';
  if (db !== '' && !DATABASE.test(db)) return 'names a database that is no number';
  const colon = login.indexOf(':');
  const [username, password] = colon < 0 ? [login, ''] : [login.slice(0, colon), login.slice(colon + 1)];
  try {
    const [plainName = '', ...secrets] = [name, username, password].map(decodeURIComponent);
    return { name: plainName, db: Number(db), username: secrets[0] ?? '', password: secrets[1] ?? '' };
  } catch {
    return 'has a % that begins no character: write %25 for it';
  }
}

export const placeText = ({ host, port }: Place): string => `${host.includes(':') ? `[${host}]` : host}:${port}`;
