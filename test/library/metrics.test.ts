/** The metrics of a connection: what its workers did, and what its store shows. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { putOutboxReport } from '../../src/core/outbox/outbox-report.ts';
import { SCHEDULE_RECORD } from '../../src/core/schedules/schedule.ts';
import type { Longhaul } from '../../src/library/index.ts';
import { connect, fail } from '../../src/library/index.ts';
import { METRICS, type MetricName, PREFIX } from '../../src/metrics/catalogue.ts';
import { MetricsRegistry } from '../../src/metrics/metrics-registry.ts';
import { storeFamilies } from '../../src/metrics/store-metrics.ts';
import { lint, readExposition } from '../support/exposition.ts';

async function open(): Promise<Longhaul> {
  const longhaul = await connect('memory:');
  onTestFinished(() => longhaul.close());
  await longhaul.metrics();
  return longhaul;
}

/** Returns the value of a series by its name and some of its labels. */
async function value(longhaul: Longhaul, name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> {
  const series = readExposition(await longhaul.metrics()).flatMap((family) => family.series);
  const found = series.filter(
    (each) => each.name === PREFIX + name && Object.entries(labels).every(([key, text]) => each.labels[key] === text),
  );
  return found.reduce((sum, each) => sum + each.value, 0);
}

async function until(read: () => Promise<number>, wanted: number): Promise<void> {
  await expect.poll(read, { timeout: 10_000 }).toBe(wanted);
}

describe('the metrics of a connection', () => {
  it('count attempts by outcome, failures by group, retries, and both durations', async () => {
    const longhaul = await open();
    const queue = longhaul.queue<number>('mail');
    await queue.configure({ retries: 1, backoff: { kind: 'fixed', delay: '1ms', jitter: 0 } });
    queue.work(async ({ data }) => (data === 0 ? 'sent' : fail('no', { group: `group ${data}` })), { concurrency: 2 });
    await queue.run(0);
    for (let group = 1; group <= 25; group += 1) await queue.run(group).catch(() => undefined);
    await until(() => value(longhaul, 'attempts_total', { queue: 'mail', outcome: 'fail' }), 50);
    expect(await value(longhaul, 'attempts_total', { queue: 'mail', outcome: 'complete' })).toBe(1);
    expect(await value(longhaul, 'retries_total', { queue: 'mail' })).toBe(25);
    expect(await value(longhaul, 'attempt_failures_total', { queue: 'mail', group: 'group 20' })).toBe(2);
    expect(await value(longhaul, 'attempt_failures_total', { queue: 'mail', group: '(others)' })).toBe(10);
    for (const name of ['wait_seconds', 'run_seconds']) expect(await value(longhaul, `${name}_count`)).toBe(51);
    expect(await value(longhaul, 'jobs', { queue: 'mail', state: 'failed' })).toBe(25);
    expect(await value(longhaul, 'slots', { queue: 'mail' })).toBe(2);
    expect(await value(longhaul, 'workers', { state: 'live' })).toBe(1);
    expect(await value(longhaul, 'storage_bytes', { queue: 'mail', state: 'failed' })).toBeGreaterThan(0);
  });

  it('show slots and capacity in use, and a lost lease', async () => {
    const longhaul = await open();
    const queue = longhaul.queue('heavy');
    const work = queue.work(
      (job) => new Promise((resolve) => job.signal.addEventListener('abort', () => resolve(null))),
      {
        concurrency: 3,
        offers: { gpu: 2 },
        drain: 0,
      },
    );
    await queue.add(1, { needs: { gpu: 1 } });
    await until(() => value(longhaul, 'slots_used', { queue: 'heavy' }), 1);
    expect(await value(longhaul, 'capacity', { resource: 'gpu' })).toBe(2);
    expect(await value(longhaul, 'capacity_used', { resource: 'gpu' })).toBe(1);
    await queue.pause();
    await longhaul.failWorker(work.id);
    await until(() => value(longhaul, 'lease_losses_total', { queue: 'heavy' }), 1);
    expect(await value(longhaul, 'slots_used', { queue: 'heavy' })).toBe(0);
  });

  it('count waiting jobs by reason, and show how long the oldest waits', async () => {
    const longhaul = await open();
    const reasonOf = (queue: string, reason: string) => value(longhaul, 'waiting_jobs', { queue, reason });
    const first = await longhaul.queue('none').add(1);
    await longhaul.queue('none').add(2, { dependsOn: [first.id] });
    await longhaul.queue('none').add(3, { delay: '1h' });
    await longhaul.queue('idle').add(1);
    await longhaul.queue('idle').pause();
    await longhaul.setThrottle('database', 1);
    const held = longhaul.queue('held');
    await held.configure({ throttles: ['database'] });
    held.work((job) => new Promise((resolve) => job.signal.addEventListener('abort', () => resolve(null))), {
      concurrency: 2,
      drain: 0,
    });
    await held.add(1);
    await until(() => value(longhaul, 'throttle_slots_used', { throttle: 'database' }), 1);
    await held.add(2);
    await until(() => reasonOf('held', 'throttled'), 1);
    expect(
      await Promise.all(['no-worker', 'blocked', 'scheduled', 'ready'].map((each) => reasonOf('none', each))),
    ).toEqual([1, 1, 1, 0]);
    expect([await reasonOf('idle', 'paused'), await reasonOf('idle', 'no-worker')]).toEqual([1, 0]);
    expect(await value(longhaul, 'throttle_slots', { throttle: 'database' })).toBe(1);
    expect(await value(longhaul, 'throttle_next_start_seconds', { throttle: 'database' })).toBe(0);
    await longhaul.setThrottle('slow', { rate: '1/1h', by: 'model' });
    const slow = longhaul.queue<{ model: string }>('slow');
    await slow.configure({ throttles: ['slow'] });
    await slow.addAll([{ model: 'a' }, { model: 'a' }]);
    slow.work(() => undefined);
    await until(() => value(longhaul, 'throttle_waiting_jobs', { throttle: 'slow' }), 1);
    const nextStart = await value(longhaul, 'throttle_next_start_seconds', { throttle: 'slow' });
    expect(nextStart).toBeGreaterThan(3_500);
    expect(nextStart).toBeLessThanOrEqual(3_600);
    const before = await value(longhaul, 'oldest_wait_seconds', { queue: 'none' });
    await expect.poll(() => value(longhaul, 'oldest_wait_seconds', { queue: 'none' })).toBeGreaterThan(before);
    expect(await value(longhaul, 'oldest_wait_seconds', { queue: 'nothing' })).toBe(0);
  });

  it('count late schedules', async () => {
    const longhaul = await open();
    await longhaul.schedules.set('hourly', { queue: 'mail', every: '1h' });
    expect(await value(longhaul, 'late_schedules')).toBe(0);
    const { records } = longhaul.store;
    const record = await records.get(SCHEDULE_RECORD, 'hourly');
    const schedule = JSON.parse(record?.value ?? '') as { mark: number };
    const late = { ...schedule, mark: schedule.mark - 2 * 3_600_000 };
    await records.put({ kind: SCHEDULE_RECORD, key: 'hourly', value: JSON.stringify(late) });
    expect(await value(longhaul, 'late_schedules')).toBe(1);
    expect(await value(longhaul, 'schedule_delay_seconds')).toBeGreaterThan(3_000);
    expect(await value(longhaul, 'schedules', { state: 'active' })).toBe(1);
  });
});

describe('a source of metrics', () => {
  it('may be added, and shows when it cannot be read', async () => {
    const registry = new MetricsRegistry();
    const remove = registry.register('outbox', () => [
      { name: 'longhaul_outbox_lag_seconds', help: 'Lag.', type: 'gauge', samples: [{ value: 3 }] },
    ]);
    registry.register('broken', () => Promise.reject(new Error('away')));
    const text = await registry.text();
    expect(text).toContain('longhaul_outbox_lag_seconds 3\n');
    expect(text).toContain('longhaul_metric_source_up{source="broken"} 0\n');
    expect(text).toContain('longhaul_metric_source_up{source="outbox"} 1\n');
    remove();
    expect(await registry.text()).not.toContain('outbox');
  });

  it('shows a store that does not answer as a value', async () => {
    const longhaul = await connect('memory:');
    await longhaul.close();
    const families = await storeFamilies(longhaul.store);
    expect(families.find(({ name }) => name === 'longhaul_store_up')?.samples).toEqual([{ value: 0 }]);
  });
});

it('The metrics of a connection are clean, and are the part of the catalogue that is not of a node.', async () => {
  const longhaul = await open();
  await longhaul.setThrottle('database', 1);
  const noRows = { waiting: 0, failed: 0, oldestAt: null, problem: null, host: 'here' };
  await putOutboxReport(longhaul.store.records, 'shop', { ...noRows, at: Date.now() });
  await longhaul.queue('mail').configure({ retries: 0, throttles: ['database'] });
  longhaul.queue('mail').work(async () => fail('no'), { offers: { gpu: 1 } });
  await longhaul
    .queue('mail')
    .run(1)
    .catch(() => undefined);
  await until(() => value(longhaul, 'attempts_total'), 1);
  const families = readExposition(await longhaul.metrics());
  expect(lint(families)).toEqual([]);
  const expected = (Object.keys(METRICS) as MetricName[]).filter((name) => METRICS[name].scope !== 'node');
  expect(families.map(({ name }) => name.slice(PREFIX.length)).sort()).toEqual([...expected].sort());
});
