/** Metrics of the outboxes whose relays report to the store. */
import type { OutboxReport } from '../core/outbox/outbox-report.ts';
import { outboxLagMs, outboxReports } from '../core/outbox/outbox-report.ts';
import type { Records } from '../core/ports/records.ts';
import type { MetricName } from './catalogue.ts';
import { family } from './catalogue.ts';
import type { Family } from './metrics-text.ts';

const SECOND_MS = 1_000;

export async function outboxFamilies(records: Pick<Records, 'list'>, now: number): Promise<readonly Family[]> {
  const reports = await outboxReports(records);
  const gauge = (name: MetricName, valueOf: (report: OutboxReport) => number): Family =>
    family(
      name,
      reports.map(({ name: outbox, report }) => ({ labels: { outbox }, value: valueOf(report) })),
    );
  return [
    gauge('outbox_lag_seconds', (report) => outboxLagMs(report, now) / SECOND_MS),
    gauge('outbox_waiting', ({ waiting }) => waiting),
    gauge('outbox_failed', ({ failed }) => failed),
    gauge('outbox_report_age_seconds', ({ at }) => Math.max(0, now - at) / SECOND_MS),
  ];
}
