/** What a worker does about the news that its renewer brings. */
import type { Attempts } from '../attempt/attempts.ts';
import type { Reach } from '../loop/store-availability.ts';
import type { WorkerEvent } from '../loop/worker-event.ts';
import type { LeaseRenewerEvent, TellNews } from './lease-renewer.ts';

export interface NewsReaderOptions {
  readonly attempts: Attempts;
  readonly reach: Reach;
  /** Whether attempts stop when their lease is about to end and nobody could renew it. */
  readonly mustStop: boolean;
  tell(event: WorkerEvent): void;
  /** The worker was declared lost. */
  restart(): void;
}

export function newsReader(options: NewsReaderOptions): TellNews {
  return (news) => read(news, options);
}

function read(news: LeaseRenewerEvent, { attempts, reach, mustStop, tell, restart }: NewsReaderOptions): void {
  switch (news.kind) {
    case 'said':
      return attempts.get(news.token)?.heard(news.number);
    case 'lost':
      return attempts.lost(news.token);
    case 'cancel':
      return attempts.get(news.token)?.stop('cancel');
    case 'expiring':
      return mustStop ? attempts.get(news.token)?.stop('unreachable') : undefined;
    case 'pause': {
      const job = attempts.get(news.token)?.job;
      return job === undefined ? undefined : tell({ type: 'pause-asked', job, isAsked: news.isAsked });
    }
    case 'worker-lost':
      return restart();
    case 'away':
      return reach.failed(news.error);
    case 'back':
      return reach.answered();
    case 'blocked':
      return tell({ type: 'blocked', ms: news.ms });
    case 'trouble':
      return tell({ type: 'trouble', what: 'the lease renewer', error: news.error });
  }
}
