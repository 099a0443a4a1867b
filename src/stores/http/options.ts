/**
 * The options of an HTTP store: the address of its server, and the token. Plain data, so that the lease renewer thread
 * can open the same store from a copy.
 */
import type { ClockSource } from '../../core/lifecycle/clock.ts';
import { badInput, type Problem } from '../../core/ports/errors.ts';

export interface HttpStoreOptions {
  /** http://host:port, https://host:port, or unix:/path/of/node.sock */
  readonly address: string;
  readonly token?: string;
  /** Unless `store`, each call sends the caller's time; the server must be configured to accept it. */
  readonly clock?: ClockSource;
  /** Time limits of a call, and of a connection attempt. */
  readonly callTimeoutMs?: number;
  readonly connectTimeoutMs?: number;
}

export interface HttpSettings {
  /** Null over TCP. */
  readonly socketPath: string | null;
  readonly url: URL;
  readonly token: string | null;
  readonly sendsNow: boolean;
  readonly callTimeoutMs: number;
  readonly connectTimeoutMs: number;
}

/** Shorter than a lease, so that a heartbeat that hangs fails before the lease expires. */
const CALL_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 5_000;

export function settingsOf(options: HttpStoreOptions): HttpSettings {
  const problems: Problem[] = [];
  const { address, token = null, clock = 'store' } = options;
  const target = targetOf(address, problems);
  if (token !== null && !/^[\x21-\x7e]+$/.test(token))
    problems.push({ path: 'token', message: 'must consist of visible ASCII characters' });
  if (problems.length > 0) throw badInput('the options of the HTTP store', problems);
  const { callTimeoutMs = CALL_TIMEOUT_MS, connectTimeoutMs = CONNECT_TIMEOUT_MS } = options;
  return { ...target, token, sendsNow: clock !== 'store', callTimeoutMs, connectTimeoutMs };
}

const LOCAL = new URL('http://localhost/');

function targetOf(address: string, problems: Problem[]): Pick<HttpSettings, 'socketPath' | 'url'> {
  const path = /^unix:(?:\/\/(?=\/))?(.+)$/.exec(address)?.[1];
  if (path !== undefined) return { socketPath: path, url: LOCAL };
  const url = URL.canParse(address) ? new URL(address) : null;
  const isRight = url !== null && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '';
  if (!isRight || url.username !== '' || url.password !== '')
    problems.push({ path: 'address', message: 'must be http://host:port, https://host:port or unix:/path/node.sock' });
  if (url !== null && !url.pathname.endsWith('/')) url.pathname += '/';
  return { socketPath: null, url: url ?? LOCAL };
}
