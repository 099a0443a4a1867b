/**
 * The rows of the table with their targets.
 *
 * `ours` and `peer` name contenders; of several peers the fastest counts. A row with `peerMeasure` compares Longhaul with
 * itself; a row without a peer has an absolute target. A row without `reach` is for information.
 */
const fastest = ['bullmq', 'bee-queue', 'plainjob-full', 'plainjob'];
const jobs = 'jobs/s';

const redis = [
  { row: 'add one by one, 500 in flight', measure: 'add', unit: jobs, peer: ['bee-queue'], reach: ['≥', 1.2] },
  { row: 'add one by one, 500 in flight', measure: 'add', unit: jobs, peer: ['bullmq'], reach: ['≥', 3] },
  { row: 'add in bulk', measure: 'bulk', unit: jobs, peer: ['bullmq'], reach: ['≥', 5] },
  { row: 'add in bulk', measure: 'bulk', unit: jobs, peer: ['bee-queue'] },
  { row: 'process, concurrency 1', measure: 'work1', unit: jobs, peer: ['bullmq'], reach: ['≥', 2] },
  { row: 'process, concurrency 1', measure: 'work1', unit: jobs, peer: ['bee-queue'] },
  { row: 'process, concurrency 100', measure: 'work100', unit: jobs, peer: fastest, reach: ['≥', 1.5] },
  { row: 'process, concurrency 100', measure: 'work100', unit: jobs, peer: ['bullmq'], reach: ['≥', 2.5] },
  {
    row: 'process, concurrency 100, with a priority',
    measure: 'priority',
    unit: jobs,
    peer: ['bullmq'],
    reach: ['≥', 1.3],
  },
  { row: 'process, concurrency 100, with a delay', measure: 'delay', unit: jobs, peer: ['bullmq'] },
  { row: 'process, concurrency 100, failing once', measure: 'failing', unit: jobs, peer: ['bullmq'] },
  { row: 'pick-up p50, two processes', measure: 'pickup.p50', unit: 'ms', peer: ['bullmq'], reach: ['≤', 1] },
  { row: 'pick-up p99, two processes', measure: 'pickup.p99', unit: 'ms', peer: ['bullmq'], reach: ['≤', 1] },
  { row: 'pick-up p50, one process', measure: 'pickupInside.p50', unit: 'ms', peer: ['bullmq'], reach: ['≤', 1] },
  { row: 'pick-up p99, one process', measure: 'pickupInside.p99', unit: 'ms', peer: ['bullmq'], reach: ['≤', 1] },
  { row: 'bytes a waiting job', measure: 'bytes', unit: 'bytes', peer: ['bullmq'], reach: ['≤', 0.8] },
];

const sqlite = [
  { row: 'add one by one, 500 in flight', measure: 'add', unit: jobs, peer: ['bee-queue'], reach: ['≥', 1.5] },
  { row: 'add in bulk', measure: 'bulk', unit: jobs, peer: ['plainjob-full'], reach: ['>', 1] },
  { row: 'add in bulk', measure: 'bulk', unit: jobs, peer: ['plainjob'] },
  { row: 'process, concurrency 1', measure: 'work1', unit: jobs, peer: ['bullmq'], reach: ['≥', 0.7] },
  { row: 'process, concurrency 1', measure: 'work1', unit: jobs, peer: ['plainjob-full'] },
  { row: 'process, concurrency 100', measure: 'work100', unit: jobs, peer: fastest, reach: ['≥', 1.5] },
  { row: 'process, concurrency 100', measure: 'work100', unit: jobs, peer: ['bullmq'], reach: ['≥', 2.5] },
  { row: 'pick-up p50, two processes', measure: 'pickup.p50', unit: 'ms', peer: ['bullmq'], reach: ['≤', 1] },
  { row: 'pick-up p99, two processes', measure: 'pickup.p99', unit: 'ms', peer: ['bullmq'], reach: ['≤', 1] },
  { row: 'pick-up p50, one process', measure: 'pickupInside.p50', unit: 'ms', peer: ['bullmq'], reach: ['≤', 1] },
  { row: 'pick-up p99, one process', measure: 'pickupInside.p99', unit: 'ms', peer: ['bullmq'], reach: ['≤', 1] },
];

const size = ({ few, many, waiting }) => {
  const [short, long, queued] = [few, many, waiting].map((count) => count.toLocaleString('en'));
  const against = `itself with ${short} waiting`;
  return [
    growth({ row: `claim one of ${queued} waiting`, measure: 'claim.one', against }),
    growth({ row: `claim 100 of ${queued} waiting`, measure: 'claim.hundred', against }),
    growth({ row: `add one to ${queued} waiting`, measure: 'claim.add', against }),
    growth({ row: `settle one with ${queued} waiting`, measure: 'claim.settle', against }),
    { row: `list, slowest call, ${long} done`, measure: 'finished.list', unit: 'ms', reach: ['<', 100] },
    { row: `count, slowest call, ${long} done`, measure: 'finished.count', unit: 'ms', reach: ['<', 100] },
    { row: 'heartbeats of 1,000 running jobs', measure: 'heartbeats', unit: '% of one core', reach: ['<', 5] },
  ];
};

const growth = ({ row, measure, against }) => ({
  row,
  against,
  unit: 'ms',
  measure: `${measure}.many`,
  peerMeasure: `${measure}.few`,
  reach: ['≤', 1.5],
});

export function targets({ stores, sizes }) {
  const on = (store, rows) =>
    rows.map((each) => ({ ...each, row: `${titles[store]}: ${each.row}`, ours: `longhaul-${store}` }));
  const compared = { redis, sqlite };
  return stores.flatMap((store) => [...on(store, compared[store]), ...on(store, size(sizes))]);
}

const titles = { redis: 'Redis', sqlite: 'SQLite' };
