/**
 * The ports themselves, call by call, texts as texts: what the http store speaks to. One route a call, all made alike;
 * the answers are exactly the port's.
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
  commit: ['submit', 'Makes drafts into waiting jobs.'],
  claim: ['operate', 'Takes waiting jobs under a lease.'],
  heartbeat: ['operate', 'Renews leases, with what there is to say of the attempts.'],
  settle: ['operate', 'Says how attempts ended.'],
  cancel: ['operate', 'Ends jobs for good, running ones when their workers have stopped them.'],
  requeue: ['operate', 'Makes ended jobs wait again.'],
  move: ['operate', 'Puts jobs into another queue.'],
  change: ['operate', 'Changes priority, tags, time, name or data of jobs.'],
  delete: ['operate', 'Forgets jobs in any state but running.'],
  find: ['read', 'Jobs by their ids; null where there is none.'],
  history: ['read', 'The history of one job.'],
  list: ['read', 'A page of jobs.'],
  count: ['read', 'How many jobs of each state the queues have.'],
  insight: ['read', 'What is worked out of jobs: failures by group.'],
  keepWorker: ['operate', 'Registers a worker, or renews its registration.'],
  endWorker: ['operate', 'Forgets a worker, or declares it dead and returns its jobs.'],
  workers: ['read', 'All workers with what they run.'],
  maintain: ['operate', 'One step of upkeep: lost leases, old drafts, retention.'],
};

/** The daily round of workers, which is nobody's act. */
const ROUNDS: ReadonlySet<CallName> = new Set(['claim', 'heartbeat', 'settle', 'keepWorker', 'maintain']);

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
    audit: role === 'operate' && !ROUNDS.has(name),
    handle: async ({ context, body }) => json(await carry(context, name, body)),
  });
});

/** `workers` alone has no argument before its options. */
async function carry(context: ServerContext, name: CallName, { argument, now }: StoreCall<unknown>): Promise<unknown> {
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
  about: 'Every change in the store as it happens: each message is a JSON list of events.',
  role: 'read',
  answer: 'events',
  handle: ({ context }) =>
    events(async (stream) => {
      const unsubscribe = context.store.jobs.subscribe((heard) => stream.write(messageOf(heard)));
      await aborted(stream.signal);
      unsubscribe();
    }),
});

/** Messages by the list that the store gave to every listener: written once for all streams. */
const messages = new WeakMap<readonly StoreEvent[], string>();

function messageOf(heard: readonly StoreEvent[]): string {
  const known = messages.get(heard);
  if (known !== undefined) return known;
  const message = formatServerEvent({ data: JSON.stringify(heard) });
  messages.set(heard, message);
  return message;
}

/** Resolves at once for a signal that is aborted already: no event would tell of it. */
function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

export const storeRoutes: readonly Route[] = [...callRoutes, eventRoute];
