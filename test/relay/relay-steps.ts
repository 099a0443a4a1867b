/** The steps of a relay with a small and a large file, as requests. */
import type { SeenRequest } from '../support/http-fault-proxy.ts';

const isPut = ({ method, path }: SeenRequest, end: string): boolean => method === 'PUT' && path.endsWith(end);

/** `resume` and `rest` follow after the large file was cut once. */
export const STEPS = {
  hello: ({ method, path }: SeenRequest) => method === 'GET' && path === '/api/relay',
  prepare: ({ method, path }: SeenRequest) => method === 'PUT' && path.startsWith('/api/relay/'),
  'first file': (request: SeenRequest) => isPut(request, '/small'),
  'large file': (request: SeenRequest) => isPut(request, '/large'),
  resume: ({ method }: SeenRequest) => method === 'HEAD',
  'rest of the large file': (request: SeenRequest) => isPut(request, '/large'),
  commit: ({ method, path }: SeenRequest) => method === 'POST' && path.endsWith('/commit'),
} as const;
export type Step = keyof typeof STEPS;

export const needsCut = (step: Step): boolean => step === 'resume' || step === 'rest of the large file';
