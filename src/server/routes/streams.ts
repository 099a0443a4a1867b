/** What happens, as it happens: of all jobs, of a queue's, of one. The messages are described in wire/job-event.ts. */
import { jobId, queueName } from '../../core/job/names.ts';
import { refuse } from '../../core/ports/refusal.ts';
import type { JobEvent } from '../../wire/job-event.ts';
import { refusedReply } from '../http/problem.ts';
import { queryFlag } from '../http/query-checks.ts';
import type { Reply } from '../http/reply.ts';
import { events } from '../http/reply.ts';
import type { Call, Route } from '../http/route.ts';
import { route } from '../http/route.ts';
import type { EventFeed } from '../streams/event-feed.ts';
import type { RingEvent } from '../streams/event-ring.ts';
import type { EventStream } from '../streams/event-stream.ts';

/** Something was lost on the way: that concerns every reader. */
const RESET = 'reset';

export const streamRoutes: readonly Route[] = [
  route({
    name: 'events.all',
    method: 'GET',
    path: '/api/events',
    about:
      'Every change of a job or a queue as it happens, of all or of one queue; with tracked=true only of jobs that are tracked. Goes on from Last-Event-ID.',
    role: 'read',
    query: { queue: queueName, tracked: queryFlag },
    answer: 'events',
    handle: ({ query: { queue, tracked }, context, request }) => {
      const { events: feed } = context;
      const lastId = lastIdOf(request) ?? feed.lastId;
      const wants = ({ event, queues, isTracked }: RingEvent): boolean =>
        event === RESET || ((isTracked || tracked !== true) && (queue === undefined || queues.includes(queue)));
      return events((stream) => tell(stream, feed, { lastId, wants }));
    },
  }),
  route({
    name: 'events.job',
    method: 'GET',
    path: '/api/jobs/{id}/events',
    about: 'Every change of one job as it happens, beginning with how it is now. Goes on from Last-Event-ID.',
    role: 'read',
    params: { id: jobId },
    answer: 'events',
    handle: (call) => ofJob(call),
  }),
];

async function ofJob({ params: { id }, context, request }: Call<{ readonly id: string }>): Promise<Reply> {
  const { events: feed, store } = context;
  // Before the look: what happens after it is heard of by this id.
  const before = feed.lastId;
  const [job] = await store.jobs.find([id]);
  if (job === null || job === undefined) return refusedReply(refuse('not-found', `job ${id}`).refusal);
  const { queue, state } = job;
  const now: JobEvent = { type: 'changed', types: [], id, queue, state, row: await feed.rowOf(job) };
  const wants = (event: RingEvent): boolean => event.job === id || event.event === RESET;
  return events((stream) => {
    stream.send({ event: 'job', data: JSON.stringify(now) });
    return tell(stream, feed, { lastId: lastIdOf(request) ?? before, wants });
  });
}

function lastIdOf({ headers }: Call['request']): string | null {
  const last = headers['last-event-id'];
  return typeof last === 'string' && last !== '' ? last : null;
}

/** Events that one write carries. */
const MOST_AT_ONCE = 64;

interface Reader {
  readonly lastId: string | null;
  wants(event: RingEvent): boolean;
}

/**
 * Sends what was missed, then `ready`, then everything that comes, no faster than the reader takes it: a slow reader leaves
 * its events in the ring and not in memory of its own. One that falls behind the ring gets `reset`.
 */
async function tell(stream: EventStream, feed: EventFeed, { lastId, wants }: Reader): Promise<void> {
  const { signal } = stream;
  let at = lastId ?? feed.lastId;
  let isReady = false;
  const more = followFeed(feed, signal);
  while (!signal.aborted) {
    const events = feed.since(at, MOST_AT_ONCE);
    if (events === null) stream.send({ event: 'reset', id: (at = feed.lastId), data: '{}' });
    else if (events.length > 0) {
      at = events.at(-1)?.id ?? at;
      sendAll(stream, events.filter(wants));
    } else if (isReady) await more.next();
    else {
      stream.send({ event: 'ready', id: at, data: '{}' });
      isReady = true;
    }
    await stream.drained();
  }
  more.stop();
}

function sendAll(stream: EventStream, events: readonly RingEvent[]): void {
  if (events.length > 0) stream.write(events.map(({ text }) => text).join(''));
}

/** Wakes one reader when the feed has more for it. */
function followFeed(feed: EventFeed, signal: AbortSignal): { next(): Promise<void>; stop(): void } {
  let wake = (): void => undefined;
  const stop = feed.listen(() => wake());
  signal.addEventListener('abort', () => wake(), { once: true });
  return { next: () => (signal.aborted ? Promise.resolve() : new Promise((resolve) => (wake = resolve))), stop };
}
