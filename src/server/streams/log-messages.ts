/** A log that grows, as messages of a stream: `text`, `reset` and `end`, each with the place to come back to as its id. */
import type { LogResult } from '../../node/attempts/attempt-reader.ts';
import type { LogNews } from '../../node/attempts/follow-log.ts';
import type { LogPlace } from '../../node/attempts/log-position.ts';
import { formatLogPlace } from '../../node/attempts/log-position.ts';
import type { EventStream, ServerEvent } from './event-stream.ts';

/** Tells what there is and what comes, no faster than it is read. */
export async function tellLog(stream: EventStream, found: LogResult, from: LogPlace | null): Promise<void> {
  if (!found.ok) return stream.send({ event: 'end', data: JSON.stringify({ state: null, exit: null, signal: null }) });
  const { attempt } = found.log;
  for await (const news of found.log.follow(from, stream.signal)) {
    stream.send(messageOf(news, attempt));
    await stream.drained();
    if (stream.signal.aborted) return;
  }
}

function messageOf(news: LogNews, attempt: number): ServerEvent {
  const id = formatLogPlace(news.to);
  switch (news.kind) {
    case 'text':
      return {
        id,
        event: 'text',
        data: JSON.stringify({ attempt, offset: news.from, to: news.to.offset, text: news.text }),
      };
    case 'reset':
      return { id, event: 'reset', data: JSON.stringify({ attempt, ...news.to }) };
    case 'end': {
      const { state, exit, signal } = news;
      return { id, event: 'end', data: JSON.stringify({ attempt, state, exit, signal }) };
    }
  }
}
