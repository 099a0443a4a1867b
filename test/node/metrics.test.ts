/**
 * The metrics of a node: its output is clean, docs/metrics.md lists exactly what it has, and alert rules and dashboard
 * use only names that it has.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { putOutboxReport } from '../../src/core/outbox/outbox-report.ts';
import { METRICS, PREFIX } from '../../src/metrics/catalogue.ts';
import { Bench, eventually } from '../processes/scripts-workbench.ts';
import { lint, type ReadFamily, readExposition } from '../support/exposition.ts';
import { itIf } from '../support/it-if.ts';
import { figure, get, urlOf } from './serve-bench.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const ALERTS = 'deploy/prometheus/longhaul-alerts.yml';
const DASHBOARD = 'deploy/grafana/longhaul-dashboard.json';
const promtool = (args: readonly string[], input = '') => spawnSync('promtool', args, { input, encoding: 'utf8' });
const hasPromtool = promtool(['--version']).status === 0;

const NO_OUTBOX_ROWS = { waiting: 0, failed: 0, oldestAt: null, problem: null, host: 'here' };

let text = '';
let families: readonly ReadFamily[] = [];

beforeAll(async () => {
  const bench = new Bench();
  mkdirSync(bench.queues, { recursive: true });
  writeFileSync(join(bench.queues, 'mixed'), '#!/bin/sh\n[ "$LONGHAUL_PARAM1" = good ]\n', { mode: 0o700 });
  const node = await bench.serve();
  const url = await urlOf(node);
  const longhaul = await bench.longhaul();
  await longhaul.setThrottle('database', 1);
  await putOutboxReport(longhaul.store.records, 'shop', { ...NO_OUTBOX_ROWS, at: Date.now() });
  await longhaul.schedules.set('hourly', { queue: 'mixed', every: '1h' });
  const ids = [await bench.add('mixed', { param1: 'good' }), await bench.add('mixed', { param1: 'bad' })];
  for (const id of ids) await bench.until(id, (job) => job.state === 'done' || job.state === 'failed');
  text = await eventually(
    async () => (await get(url, '/metrics')).text,
    (seen) =>
      figure(seen, 'longhaul_failures_total', '{queue="mixed"}') === 1 &&
      figure(seen, 'longhaul_attempts_total', '{queue="mixed",outcome="fail"}') === 1,
  );
  families = readExposition(text);
  await node.terminate();
});

/** Returns the names of metrics in an expression, without the suffixes of histograms. */
function namesIn(expression: string): readonly string[] {
  return [...expression.matchAll(/longhaul_[a-z_]+/g)].map(([name]) => name.replace(/_(bucket|sum|count)$/, ''));
}

/** Reads the rules: the subset of YAML in which they are written, strictly. */
function readRules(yaml: string): readonly { alert: string; expr: string; summary: string; severity: string }[] {
  const [head = '', ...rules] = yaml.replace(/^#.*\n/gm, '').split(/^ {6}- alert: /m);
  expect(head).toBe('groups:\n  - name: longhaul\n    rules:\n');
  return rules.map((rule) => {
    const pattern =
      /^(\w+)\n {8}expr: (.+|>-\n(?: {10}.+\n)+?)\n?(?: {8}for: \d+[smh]\n)? {8}labels:\n {10}severity: (critical|warning)\n {8}annotations:\n {10}summary: "([^"\n]+)"\n$/;
    const [whole, alert = '', expr = '', severity = '', summary = ''] = pattern.exec(rule) ?? [];
    expect({ rule, isRead: whole !== undefined }).toEqual({ rule, isRead: true });
    return { alert, expr, severity, summary };
  });
}

describe('the metrics of a node', () => {
  it('count jobs by queue and state, claims, settlements and failures, and cover store, disk and memory', () => {
    expect(figure(text, 'longhaul_jobs', '{queue="mixed",state="done"}')).toBe(1);
    expect(figure(text, 'longhaul_jobs', '{queue="mixed",state="failed"}')).toBe(1);
    expect(figure(text, 'longhaul_claims_total', '{queue="mixed"}')).toBe(2);
    expect(figure(text, 'longhaul_settles_total', '{queue="mixed",event="completed"}')).toBe(1);
    expect(figure(text, 'longhaul_attempts_total', '{queue="mixed",outcome="complete"}')).toBe(1);
    expect(figure(text, 'longhaul_run_seconds_count', '{queue="mixed"}')).toBe(2);
    expect(figure(text, 'longhaul_slots', '{queue="mixed"}')).toBeGreaterThan(0);
    for (const name of ['store_latency_seconds', 'disk_free_bytes', 'resident_memory_bytes'])
      expect(figure(text, `longhaul_${name}`)).toBeGreaterThan(0);
    expect(figure(text, 'longhaul_store_up')).toBe(1);
    expect(figure(text, 'longhaul_runner_up')).toBe(1);
    expect(figure(text, 'longhaul_nodes', '{state="up"}')).toBe(1);
    expect(figure(text, 'longhaul_event_loop_delay_seconds', '{quantile="0.99"}')).toBeGreaterThanOrEqual(0);
    expect(text).not.toMatch(/longhaul_metric_source_up\{.*\} 0/);
  });

  it('are clean', () => {
    expect(lint(families)).toEqual([]);
  });

  it('are all in docs/metrics.md, with their types, and nothing else is', () => {
    const rows = [...read('docs/metrics.md').matchAll(/^\| `longhaul_(\w+)` \| (\w+) \| ([^|]*) \| ([^|]*) \|$/gm)];
    const documented = rows.map(([, name = '', type = '', labels = '', help = '']) => ({
      name,
      type,
      labels: labels.trim(),
      help: help.trim(),
    }));
    const labelsOf = (name: string): string => {
      const series = families.find((family) => family.name === PREFIX + name)?.series ?? [];
      return Object.keys(series[0]?.labels ?? {})
        .filter((label) => label !== 'le')
        .join(', ');
    };
    const expected = Object.entries(METRICS).map(([name, { type, help }]) => ({
      name,
      type,
      labels: labelsOf(name),
      help,
    }));
    const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);
    expect(documented.sort(byName)).toEqual(expected.sort(byName));
    expect(families.map(({ name }) => name.slice(PREFIX.length)).sort()).toEqual(Object.keys(METRICS).sort());
  });
});

describe('the files for monitoring', () => {
  const known = (): ReadonlySet<string> => new Set(families.map(({ name }) => name));

  it('have alert rules that use metrics of the node', () => {
    const rules = readRules(read(ALERTS));
    expect(rules.length).toBeGreaterThan(10);
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    const names = rules.flatMap(({ expr }) => namesIn(expr));
    expect(names.length).toBeGreaterThanOrEqual(rules.length - 1);
    expect(names.filter((name) => !known().has(name))).toEqual([]);
  });

  it('have a dashboard that uses metrics of the node', () => {
    const { panels, title } = JSON.parse(read(DASHBOARD)) as {
      title: string;
      panels: { id: number; title: string; targets: { expr: string }[] }[];
    };
    expect(title).toBe('Longhaul');
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const perPanel = panels.map(({ targets }) => targets.flatMap(({ expr }) => namesIn(expr)));
    expect(perPanel.every((names) => names.length > 0)).toBe(true);
    expect(perPanel.flat().filter((name) => !known().has(name))).toEqual([]);
  });

  itIf(hasPromtool)('pass promtool, and so does the output', () => {
    expect(promtool(['check', 'metrics'], text)).toMatchObject({ status: 0, stdout: '', stderr: '' });
    expect(promtool(['check', 'rules', join(root, ALERTS)])).toMatchObject({ status: 0 });
  });
});
