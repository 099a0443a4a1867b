/** Metrics of the outboxes whose relays report to the store. */
import type { OutboxReport } from '../core/outbox/outbox-report.ts';
import { outboxLagMs, outboxReports } from '../core/outbox/outbox-report.ts';
import type { Records } from '../core/ports/records.ts';
import type { Family } from './metrics-text.ts';

const SECOND_MS = 1_000;

export async function outboxFamilies(records: Pick<Records, 'list'>, now: number): Promise<readonly Family[]> {
  const reports = await outboxReports(records);
  const gauge = (name: string, help: string, valueOf: (report: OutboxReport) => number): Family => ({
    name: `longhaul_outbox_${name}`,
    help,
    type: 'gauge',
    samples: reports.map(({ name: outbox, report }) => ({ labels: { outbox }, value: valueOf(report) })),
  });
  return [
    gauge(
      'lag_seconds',
      'Age of the oldest outbox row that is not relayed.',
      (report) => outboxLagMs(report, now) / SECOND_MS,
    ),
    gauge('waiting', 'Outbox rows that are not relayed yet.', ({ waiting }) => waiting),
    gauge('failed', 'Outbox rows that cannot be relayed until they are corrected.', ({ failed }) => failed),
    gauge(
      'report_age_seconds',
      'Time since a relay of the outbox reported.',
      ({ at }) => Math.max(0, now - at) / SECOND_MS,
    ),
  ];
}
