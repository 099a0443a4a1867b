/** Calls of the Lua scripts of logs, for lua-abort.test.ts: one that cuts a log, and one that fills a hole. */
import type { Workbench } from '../contract/workbench.ts';
import type { Scenario } from './abort-scenarios.ts';

const line = (number: number): string => `${String(number).padEnd(99, '.')}\n`;
const lines = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, at) => line(from + at)).join('');

/** The tokens of the running jobs. */
const tokens = new WeakMap<Workbench, number>();

const append = (bench: Workbench, from: number, to: number) =>
  bench.store.logs.append(
    { id: 'logs', token: tokens.get(bench) ?? 0, offset: 100 * from, text: lines(from, to), gap: { from: 1, to: 2 } },
    { now: bench.now },
  );

const running: Scenario['prepare'] = async (bench) => {
  await bench.setQueue('q', { storedLogs: { attempt: 5_000, queue: 100_000 } });
  tokens.set(bench, (await bench.running({ id: 'logs' })).lease.token);
  await append(bench, 0, 20);
};

export const LOG_SCENARIOS: readonly Scenario[] = [
  { name: 'log-append', prepare: running, call: (bench) => append(bench, 20, 40), repeatsAnswer: true },
  { name: 'log-append', which: 'cut', prepare: running, call: (bench) => append(bench, 20, 60), repeatsAnswer: true },
  { name: 'log-append', which: 'hole', prepare: running, call: (bench) => append(bench, 30, 40), repeatsAnswer: true },
  {
    name: 'log-restore',
    prepare: async (bench) => {
      await bench.running({ id: 'logs' });
    },
    call: (bench) =>
      bench.store.logs
        .restore({ id: 'logs', attempt: 1, queue: 'q', at: bench.now, text: lines(0, 300) })
        .then(() => null),
    repeatsAnswer: true,
  },
];
