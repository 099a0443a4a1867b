/**
 * The JobStore port over HTTP, for the HTTP store: one route per call, with JSON texts as texts. The answers are exactly
 * those of the port.
 */
import type { Check } from '../../../core/input/check.ts';
import type { CallName } from '../../../core/operations/perform.ts';
import type { CallOptions, NewJob, StoreEvent } from '../../../core/ports/job-store.ts';
import { PORT_ANSWERS } from '../../../wire/port-answers.ts';
import { PORT_CHECKS } from '../../../wire/port-checks.ts';
import type { Role } from '../../../wire/role.ts';
import { callAddress, EVENTS_ADDRESS } from '../../../wire/store-addresses.ts';
import type { StoreCall } from '../../../wire/store-call.ts';
import { storeCall } from '../../../wire/store-call.ts';
import { events, json } from '../../http/reply.ts';
import { type Route, route } from '../../http/route.ts';
import { formatServerEvent } from '../../streams/event-stream.ts';
import type { ServerContext } from '../../views/context.ts';
import { BULK_LIMIT, callOptions } from '../../views/store-call.ts';
import { mustBeCallable } from '../../views/webhook-addresses.ts';

const ROLES: { readonly [Name in CallName]: readonly [Role, string] } = {
  add: ['submit', 'Adds jobs; an id that exists changes nothing.'],
  commit: ['submit', 'Commits drafts: they become waiting jobs.'],
  claim: ['operate', 'Claims waiting jobs under a lease.'],
  heartbeat: ['operate', 'Renews leases, with progress and checkpoints.'],
  settle: ['operate', 'Settles attempts with their outcomes.'],
  keepSteps: ['operate', 'Keeps steps of attempts under their tokens.'],
  notify: ['operate', 'Keeps events for jobs, and wakes jobs that wait for them.'],
  cancel: ['operate', 'Cancels jobs; running jobs end when their workers have stopped them.'],
  requeue: ['operate', 'Requeues ended jobs.'],
  move: ['operate', 'Moves jobs to another queue.'],
  change: ['operate', 'Changes priority, tags, run time, name or data of jobs.'],
  delete: ['operate', 'Deletes jobs that are not running.'],
  find: ['read', 'Returns jobs by id; null for an unknown id.'],
  history: ['read', 'Returns the history of a job.'],
  steps: ['read', 'Returns the steps of a job.'],
  list: ['read', 'Lists jobs.'],
  count: ['read', 'Counts the jobs of the queues by state.'],
  insight: ['read', 'Returns aggregates, such as failure groups and statistics.'],
  keepWorker: ['operate', 'Registers a worker, or renews its registration.'],
  endWorker: ['operate', 'Deregisters a worker, or declares it dead and returns its jobs.'],
  workers: ['read', 'Lists all workers with their jobs.'],
  maintain: ['operate', 'Runs one step of maintenance: lost leases, old drafts, retention.'],
};

/** Routine calls of workers, which are not audited. */
const ROUTINE: ReadonlySet<CallName> = new Set(['claim', 'heartbeat', 'settle', 'keepSteps', 'keepWorker', 'maintain']);

const callRoutes = (Object.keys(ROLES) as CallName[]).map((name) => {
  const [role, about] = ROLES[name];
  const body = storeCall(PORT_CHECKS[name] as Check<unknown>);
  return route({
    name: `store.${name}`,
    method: 'POST',
    path: callAddress(name),
    about,
    role,
    body,
    answer: PORT_ANSWERS[name],
    limits: { bodyBytes: BULK_LIMIT },
    audit: role === 'operate' && !ROUTINE.has(name),
    handle: async ({ context, body }) => json(await callStore(context, name, body)),
  });
});

/** Makes the call. `workers` is the only call without an argument before its options. */
async function callStore(
  context: ServerContext,
  name: CallName,
  { argument, now }: StoreCall<unknown>,
): Promise<unknown> {
  const { jobs } = context.store;
  const options = callOptions(context, now);
  if (name === 'add') for (const { policy } of argument as readonly NewJob[]) mustBeCallable(context, policy?.hooks);
  if (name === 'workers') return jobs.workers(options);
  return (jobs[name] as (argument: unknown, options: CallOptions) => Promise<unknown>)(argument, options);
}

const eventRoute = route({
  name: 'store.events',
  method: 'GET',
  path: EVENTS_ADDRESS,
  about: 'Streams every change in the store; each message is a JSON list of events.',
  role: 'read',
  answer: 'events',
  handle: ({ context }) =>
    events(async (stream) => {
      const unsubscribe = context.store.jobs.subscribe((batch) => stream.write(messageOf(batch)));
      await aborted(stream.signal);
      unsubscribe();
    }),
});

/** Messages by event batch. The store passes the same batch to every listener, so it is formatted once for all streams. */
const messages = new WeakMap<readonly StoreEvent[], string>();

function messageOf(batch: readonly StoreEvent[]): string {
  const cached = messages.get(batch);
  if (cached !== undefined) return cached;
  const message = formatServerEvent({ data: JSON.stringify(batch) });
  messages.set(batch, message);
  return message;
}

/** Resolves when the signal aborts, or at once if it already has: an aborted signal emits no event. */
function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

export const storeRoutes: readonly Route[] = [...callRoutes, eventRoute];
