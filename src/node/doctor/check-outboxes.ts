/** Checks the outboxes whose relays report to the store: invalid rows, rows that wait too long, relays that have stopped. */
import type { OutboxReport } from '../../core/outbox/outbox-report.ts';
import { OUTBOX_RECORD, outboxLagMs } from '../../core/outbox/outbox-report.ts';
import { plural } from '../../wire/spans.ts';
import type { JobLookup } from './check-orphans.ts';
import type { Finding } from './finding.ts';
import { fine, warning } from './finding.ts';

const MAX_LAG_MS = 60_000;
/** Relays report every five seconds. */
const MAX_SILENCE_MS = 60_000;
const SECOND_MS = 1_000;

export async function checkOutboxes(jobs: Pick<JobLookup, 'records'>, now: number): Promise<readonly Finding[]> {
  const records = await jobs.records(OUTBOX_RECORD);
  return records.flatMap(({ key, value }) => findingsOf(key, JSON.parse(value) as OutboxReport, now));
}

function findingsOf(name: string, report: OutboxReport, now: number): readonly Finding[] {
  const { waiting, failed, problem, at, host } = report;
  const about = 'outbox';
  const found: Finding[] = [];
  if (failed > 0)
    found.push(
      warning(
        about,
        `outbox ${name}: ${plural(failed, 'row')} cannot be relayed`,
        'longhaul outbox --from ADDRESS --status lists the errors; correct the rows, then run it with --retry',
      ),
    );
  if (now - at > MAX_SILENCE_MS)
    found.push(
      warning(
        about,
        `outbox ${name}: no relay has reported for ${seconds(now - at)} s; the last one ran on ${host}`,
        'start a relay: outbox.start() in a process, or longhaul outbox --from ADDRESS',
      ),
    );
  if (outboxLagMs(report, now) > MAX_LAG_MS)
    found.push(
      warning(
        about,
        `outbox ${name}: ${plural(waiting, 'row')} wait, the oldest for ${seconds(outboxLagMs(report, now))} s${problem === null ? '' : `: ${problem}`}`,
        'check that its relay runs and that the queues of the rows accept jobs',
      ),
    );
  return found.length > 0 ? found : [fine(about, `outbox ${name}: ${plural(waiting, 'row')} wait, none has failed`)];
}

const seconds = (ms: number): number => Math.round(ms / SECOND_MS);
