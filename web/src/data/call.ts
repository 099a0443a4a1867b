/** Calls of the node's API. A refusal or error is thrown as `CallError` with the node's message and problem paths. */
import type { ProblemDetails } from '../../../src/wire/problem-details.ts';
import { addressOf } from './base.ts';

export class CallError extends Error {
  readonly details: ProblemDetails | null;

  constructor(message: string, details: ProblemDetails | null) {
    super(message);
    this.details = details;
  }

  /** True if the node did not answer. */
  get isAway(): boolean {
    return this.details === null;
  }
}

interface CallOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly signal?: AbortSignal;
}

export async function call<T>(path: string, options: CallOptions = {}): Promise<T> {
  const { method = 'GET', body, query, signal } = options;
  const response = await reach(withQuery(addressOf(path), query), {
    method,
    headers: body === undefined ? {} : { 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  });
  if (!response.ok) throw await errorOf(response);
  return (response.status === 204 ? undefined : await response.json()) as T;
}

export function withQuery(path: string, query: CallOptions['query'] = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  if (given.length === 0) return path;
  return `${path}?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}

async function reach(address: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(address, init);
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new CallError('The node does not answer.', null);
  }
}

async function errorOf(response: Response): Promise<CallError> {
  const details = (await response.json().catch(() => null)) as ProblemDetails | null;
  // 502 and above without problem details come from a proxy whose node is down.
  if (details === null && response.status >= 502) return new CallError('The node does not answer.', null);
  return new CallError(details?.detail ?? `The node answered ${response.status}.`, details);
}
