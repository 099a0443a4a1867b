/** Event streams of all jobs, of one queue, or of one job. wire/job-event.ts describes the messages. */
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

/** Events were lost: every reader gets this message. */
const RESET = 'reset';

export const streamRoutes: readonly Route[] = [
  route({
    name: 'events.all',
    method: 'GET',
    path: '/api/events',
    about:
      'Streams changes of jobs and queues, of all queues or of one; with tracked=true only of tracked jobs. Resumes at Last-Event-ID.',
    role: 'read',
    query: { queue: queueName, tracked: queryFlag },
    answer: 'events',
    handle: ({ query: { queue, tracked }, context, request }) => {
      const { events: feed } = context;
      const lastId = lastIdOf(request) ?? feed.lastId;
      const wants = ({ event, queues, isTracked }: RingEvent): boolean =>
        event === RESET || ((isTracked || tracked !== true) && (queue === undefined || queues.includes(queue)));
      return events((stream) => streamEvents(stream, feed, { lastId, wants }));
    },
  }),
  route({
    name: 'events.job',
    method: 'GET',
    path: '/api/jobs/{id}/events',
    about: 'Streams changes of one job, starting with its current state. Resumes at Last-Event-ID.',
    role: 'read',
    params: { id: jobId },
    answer: 'events',
    handle: (call) => streamJob(call),
  }),
];

async function streamJob({ params: { id }, context, request }: Call<{ readonly id: string }>): Promise<Reply> {
  const { events: feed, store } = context;
  // Taken before the read: events after the read have later ids.
  const before = feed.lastId;
  const [job] = await store.jobs.find([id]);
  if (job === null || job === undefined) return refusedReply(refuse('not-found', `job ${id}`).refusal);
  const { queue, state } = job;
  const now: JobEvent = { type: 'changed', types: [], id, queue, state, row: await feed.rowOf(job) };
  const wants = (event: RingEvent): boolean => event.job === id || event.event === RESET;
  return events((stream) => {
    stream.send({ event: 'job', data: JSON.stringify(now) });
    return streamEvents(stream, feed, { lastId: lastIdOf(request) ?? before, wants });
  });
}

function lastIdOf({ headers }: Call['request']): string | null {
  const last = headers['last-event-id'];
  return typeof last === 'string' && last !== '' ? last : null;
}

/** The limit of events in one write. */
const BATCH_SIZE = 64;

interface Reader {
  readonly lastId: string | null;
  wants(event: RingEvent): boolean;
}

/**
 * Sends missed events, then `ready`, then live events, no faster than the reader takes them: events of a slow reader stay in
 * the ring and use no memory of their own. A reader that falls behind the ring gets `reset`.
 */
async function streamEvents(stream: EventStream, feed: EventFeed, { lastId, wants }: Reader): Promise<void> {
  const { signal } = stream;
  let at = lastId ?? feed.lastId;
  let isReady = false;
  const wakeups = followFeed(feed, signal);
  while (!signal.aborted) {
    const events = feed.since(at, BATCH_SIZE);
    if (events === null) stream.send({ event: 'reset', id: (at = feed.lastId), data: '{}' });
    else if (events.length > 0) {
      at = events.at(-1)?.id ?? at;
      sendAll(stream, events.filter(wants));
    } else if (isReady) await wakeups.next();
    else {
      stream.send({ event: 'ready', id: at, data: '{}' });
      isReady = true;
    }
    await stream.drained();
  }
  wakeups.stop();
}

function sendAll(stream: EventStream, events: readonly RingEvent[]): void {
  if (events.length > 0) stream.write(events.map(({ text }) => text).join(''));
}

/** Wakes one reader when the feed has new events. */
function followFeed(feed: EventFeed, signal: AbortSignal): { next(): Promise<void>; stop(): void } {
  let wake = (): void => undefined;
  const stop = feed.listen(() => wake());
  signal.addEventListener('abort', () => wake(), { once: true });
  return { next: () => (signal.aborted ? Promise.resolve() : new Promise((resolve) => (wake = resolve))), stop };
}
