/**
 * The rows of the table, and what Longhaul is to reach in each.
 *
 * `ours` and `peer` name contenders; several peers mean the fastest of them. Where Longhaul is held against itself,
 * `peerMeasure` is the other measure; where it is held against a figure, there is no peer. No `reach`: for information.
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

const size = ({ few, many }) => {
  const [short, long] = [few, many].map((count) => count.toLocaleString('en'));
  const against = `itself with ${short} waiting`;
  return [
    claim({ row: `claim one of ${long} waiting`, measure: 'claim.one', against }),
    claim({ row: `claim 100 of ${long} waiting`, measure: 'claim.hundred', against }),
    { row: `list, slowest look, ${long} done`, measure: 'finished.list', unit: 'ms', reach: ['<', 100] },
    { row: `count, slowest look, ${long} done`, measure: 'finished.count', unit: 'ms', reach: ['<', 100] },
    { row: 'heartbeats of 1,000 running jobs', measure: 'heartbeats', unit: '% of one core', reach: ['<', 5] },
  ];
};

const claim = ({ row, measure, against }) => ({
  row,
  against,
  unit: 'ms',
  measure: `${measure}.many`,
  peerMeasure: `${measure}.few`,
  reach: ['≤', 1.5],
});

export function reaches({ stores, sizes }) {
  const on = (store, rows) =>
    rows.map((each) => ({ ...each, row: `${titles[store]}: ${each.row}`, ours: `longhaul-${store}` }));
  const compared = { redis, sqlite };
  return stores.flatMap((store) => [...on(store, compared[store]), ...on(store, size(sizes))]);
}

const titles = { redis: 'Redis', sqlite: 'SQLite' };
