import { expect, it } from 'vitest';
import type { OutboxReport } from '../../core/outbox/outbox-report.ts';
import { metricsText } from '../../metrics/metrics-text.ts';
import { outboxFamilies } from '../../metrics/outbox-metrics.ts';
import { checkOutboxes } from './check-outboxes.ts';

const now = Date.UTC(2026, 5, 1);
const report = (changes: Partial<OutboxReport>): OutboxReport => ({
  waiting: 0,
  failed: 0,
  oldestAt: null,
  problem: null,
  at: now - 5_000,
  host: 'ada',
  ...changes,
});

async function findings(changes: Partial<OutboxReport>): Promise<readonly string[]> {
  const records = async () => [{ key: 'shop', value: JSON.stringify(report(changes)) }];
  return (await checkOutboxes({ records }, now)).map(({ level, message }) => `${level}: ${message}`);
}

it('accepts an outbox whose rows wait for less than a minute', async () => {
  expect(await findings({ waiting: 3, oldestAt: now - 60_000 })).toEqual([
    'ok: outbox shop: 3 rows wait, none has failed',
  ]);
});

it('warns about failed rows, about a lag, with its reason, and about a relay that has stopped', async () => {
  expect(await findings({ failed: 2 })).toEqual(['warning: outbox shop: 2 rows cannot be relayed']);
  expect(await findings({ waiting: 3, oldestAt: now - 60_001, problem: 'queue mail is down' })).toEqual([
    'warning: outbox shop: 3 rows wait, the oldest for 60 s: queue mail is down',
  ]);
  expect(await findings({ at: now - 90_000 })).toEqual([
    'warning: outbox shop: no relay has reported for 90 s; the last one ran on ada',
  ]);
});

it('gives metrics whose lag grows while no relay reports', async () => {
  const value = JSON.stringify(report({ waiting: 1, oldestAt: now - 7_000 }));
  const record = { kind: 'outbox', key: 'shop', version: 1, value, expiresAt: null, updatedAt: now };
  const families = await outboxFamilies({ list: async () => [record] }, now + 3_000);
  expect(metricsText(families).split('\n')).toEqual(
    expect.arrayContaining([
      'longhaul_outbox_lag_seconds{outbox="shop"} 10',
      'longhaul_outbox_waiting{outbox="shop"} 1',
      'longhaul_outbox_failed{outbox="shop"} 0',
      'longhaul_outbox_report_age_seconds{outbox="shop"} 8',
    ]),
  );
});
