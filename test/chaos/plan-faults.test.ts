/** Tests the plan of a chaos run: a seed repeats it, and every kind has its turn. */
import { expect, it } from 'vitest';
import { aFault, someEvidence } from './checks/sample-evidence.ts';
import { planFaults } from './plan-faults.ts';
import { commandOf, type ReportInput, reportOf } from './report.ts';

const kinds = ['a', 'b', 'c', 'd'];
const options = { seed: 7, durationMs: 60_000, everyMs: 1_000, kinds };

it('gives the same faults for the same seed, and others for another', () => {
  expect(planFaults(options)).toEqual(planFaults(options));
  expect(planFaults({ ...options, seed: 8 })).not.toEqual(planFaults(options));
});

it('plans about one fault each interval, in order, within the time', () => {
  const times = planFaults(options).map(({ atMs }) => atMs);
  expect(times.length).toBeGreaterThan(45);
  expect(times.length).toBeLessThan(80);
  expect(times).toEqual([...times].sort((a, b) => a - b));
  expect(times.at(-1)).toBeLessThan(60_000);
});

it('plans every kind once before one occurs again', () => {
  const plan = planFaults(options).map(({ kind }) => kind);
  expect(plan.slice(0, 4).sort()).toEqual(kinds);
  expect(plan.slice(4, 8).sort()).toEqual(kinds);
});

it('plans nothing without kinds', () => {
  expect(planFaults({ ...options, kinds: [] })).toEqual([]);
});

const input: ReportInput = {
  store: 'redis',
  seed: 7,
  minutes: 0.5,
  everyMs: 400,
  faults: ['kill-worker', 'kill-node'],
  skipped: [{ kind: 'full-disk', reason: 'needs root' }],
  evidence: someEvidence({ faults: [aFault({}), aFault({ kind: 'kill-node' })] }),
  findings: [{ check: 'lost', text: 'b is not in the store' }],
  missed: 3,
  samples: [],
  machine: 'a machine',
};

it('prints the command that repeats a run', () => {
  expect(commandOf(input)).toBe(
    'npm run chaos -- --minutes 0.5 --store redis --seed 7 --every 400 --faults kill-worker,kill-node',
  );
});

it('reports findings, figures and what was left out', () => {
  const report = reportOf(input);
  for (const part of [
    commandOf(input),
    '| lost | 1 |',
    '| twice | 0 |',
    '- b is not in the store',
    '| faults | 2 |',
    '| kill-node | 1 |',
    '- full-disk: needs root',
  ])
    expect(report).toContain(part);
});
