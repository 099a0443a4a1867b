/**
 * How an http store is opened: where its server is, and with which token. Plain data, so that a keeper thread can open
 * the same store from a copy of it.
 */
import type { ClockSource } from '../../core/lifecycle/clock.ts';
import { badInput, type Problem } from '../../core/ports/errors.ts';

export interface HttpStoreOptions {
  /** http://host:port, https://host:port, or unix:/path/of/node.sock */
  readonly address: string;
  readonly token?: string;
  /** Other than `store`: each call carries its own time, which the server must have been opened for. */
  readonly clock?: ClockSource;
  /** How long a call may take, and a connection to be made. */
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

/** Shorter than a lease, so that a heartbeat that hangs is known before it matters. */
const CALL_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 5_000;

export function settingsOf(options: HttpStoreOptions): HttpSettings {
  const problems: Problem[] = [];
  const { address, token = null, clock = 'store' } = options;
  const place = placeOf(address, problems);
  if (token !== null && !/^[\x21-\x7e]+$/.test(token)) problems.push({ path: 'token', message: 'is no token' });
  if (problems.length > 0) throw badInput('the options of the http store', problems);
  const { callTimeoutMs = CALL_TIMEOUT_MS, connectTimeoutMs = CONNECT_TIMEOUT_MS } = options;
  return { ...place, token, sendsNow: clock !== 'store', callTimeoutMs, connectTimeoutMs };
}

const LOCAL = new URL('http://localhost/');

function placeOf(address: string, problems: Problem[]): Pick<HttpSettings, 'socketPath' | 'url'> {
  const path = /^unix:(?:\/\/(?=\/))?(.+)$/.exec(address)?.[1];
  if (path !== undefined) return { socketPath: path, url: LOCAL };
  const url = URL.canParse(address) ? new URL(address) : null;
  const isRight = url !== null && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '';
  if (!isRight || url.username !== '' || url.password !== '')
    problems.push({ path: 'address', message: 'must be http://host:port, https://host:port or unix:/path/node.sock' });
  if (url !== null && !url.pathname.endsWith('/')) url.pathname += '/';
  return { socketPath: null, url: url ?? LOCAL };
}
