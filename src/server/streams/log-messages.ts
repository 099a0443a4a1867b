/** Streams a growing log as messages `text`, `reset` and `end`. The id of each is the position at which to resume. */
import type { LogResult } from '../../node/attempts/attempt-reader.ts';
import type { LogEvent } from '../../node/attempts/follow-log.ts';
import type { LogPosition } from '../../node/attempts/log-position.ts';
import { formatLogPosition } from '../../node/attempts/log-position.ts';
import type { EventStream, ServerEvent } from './event-stream.ts';

/** Streams the existing and the new output, no faster than the reader takes it. */
export async function streamLog(stream: EventStream, found: LogResult, from: LogPosition | null): Promise<void> {
  if (!found.ok) return stream.send({ event: 'end', data: JSON.stringify({ state: null, exit: null, signal: null }) });
  const { attempt } = found.log;
  for await (const change of found.log.follow(from, stream.signal)) {
    stream.send(messageOf(change, attempt));
    await stream.drained();
    if (stream.signal.aborted) return;
  }
}

function messageOf(change: LogEvent, attempt: number): ServerEvent {
  const id = formatLogPosition(change.to);
  switch (change.kind) {
    case 'text':
      return {
        id,
        event: 'text',
        data: JSON.stringify({ attempt, offset: change.from, to: change.to.offset, text: change.text }),
      };
    case 'reset':
      return { id, event: 'reset', data: JSON.stringify({ attempt, ...change.to }) };
    case 'end': {
      const { state, exit, signal } = change;
      return { id, event: 'end', data: JSON.stringify({ attempt, state, exit, signal }) };
    }
  }
}
