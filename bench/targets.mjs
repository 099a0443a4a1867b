/**
 * The rows of the table with their targets.
 *
 * `ours` and `peer` name contenders; of several peers the fastest counts (`isLowest`: the one with the lowest figure). A row with `peerMeasure` compares Longhaul with
 * itself; a row without a peer has an absolute target. A row without `reach` is for information.
 */
const fastest = ['bullmq', 'bee-queue', 'plainjob-full', 'plainjob'];
/** The title of the fastest of these, beside the rows against the fastest of all others. */
const among = 'the fastest on PostgreSQL';
const postgres = ['pg-boss', 'graphile-worker', 'graphile-worker-local'];
const jobs = 'jobs/s';

const redis = [
  { row: 'add one by one, 500 in flight', measure: 'add', unit: jobs, peer: ['bee-queue'], reach: ['≥', 1.3] },
  { row: 'add one by one, 500 in flight', measure: 'add', unit: jobs, peer: ['bullmq'], reach: ['≥', 3] },
  { row: 'add in bulk', measure: 'bulk', unit: jobs, peer: ['bullmq'], reach: ['≥', 5] },
  { row: 'add in bulk', measure: 'bulk', unit: jobs, peer: ['bee-queue'] },
  { row: 'process, concurrency 1', measure: 'work1', unit: jobs, peer: ['bullmq'], reach: ['≥', 1.1] },
  { row: 'process, concurrency 1', measure: 'work1', unit: jobs, peer: ['bee-queue'] },
  { row: 'process, concurrency 100', measure: 'work100', unit: jobs, peer: fastest, reach: ['≥', 1.5] },
  { row: 'process, concurrency 100', measure: 'work100', unit: jobs, peer: ['bullmq'], reach: ['≥', 2] },
  {
    row: 'process, concurrency 100, with a priority',
    measure: 'priority',
    unit: jobs,
    peer: ['bullmq'],
    reach: ['≥', 1.5],
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
  { row: 'add one by one, 500 in flight', measure: 'add', unit: jobs, peer: ['bee-queue'], reach: ['≥', 1.2] },
  { row: 'add in bulk', measure: 'bulk', unit: jobs, peer: ['plainjob-full'], reach: ['≥', 0.8] },
  { row: 'add in bulk', measure: 'bulk', unit: jobs, peer: ['plainjob'] },
  { row: 'process, concurrency 1', measure: 'work1', unit: jobs, peer: ['bullmq'] },
  { row: 'process, concurrency 1', measure: 'work1', unit: jobs, peer: ['plainjob-full'], reach: ['≥', 1] },
  { row: 'process, concurrency 100', measure: 'work100', unit: jobs, peer: fastest, reach: ['≥', 1.3] },
  { row: 'process, concurrency 100', measure: 'work100', unit: jobs, peer: ['bullmq'], reach: ['≥', 1.8] },
  { row: 'pick-up p50, two processes', measure: 'pickup.p50', unit: 'ms', peer: ['bullmq'], reach: ['≤', 1.3] },
  { row: 'pick-up p99, two processes', measure: 'pickup.p99', unit: 'ms', peer: ['bullmq'], reach: ['≤', 1.3] },
  { row: 'pick-up p50, one process', measure: 'pickupInside.p50', unit: 'ms', peer: ['bullmq'], reach: ['≤', 1] },
  { row: 'pick-up p99, one process', measure: 'pickupInside.p99', unit: 'ms', peer: ['bullmq'], reach: ['≤', 1] },
];

/** The rows against the peers on PostgreSQL: of those that have the row, the fastest counts. */
const againstPostgres = [
  { row: 'add one by one, 500 in flight', measure: 'add', peer: ['pg-boss', 'graphile-worker'] },
  { row: 'add in bulk', measure: 'bulk', peer: ['pg-boss', 'graphile-worker'] },
  { row: 'process, concurrency 1', measure: 'work1', peer: ['pg-boss', 'graphile-worker'] },
  { row: 'process, concurrency 100', measure: 'work100', peer: postgres },
  { row: 'process, concurrency 100, with a priority', measure: 'priority', peer: postgres },
  { row: 'process, concurrency 100, with a delay', measure: 'delay', peer: postgres },
  { row: 'process, concurrency 100, failing once', measure: 'failing', peer: ['pg-boss'] },
]
  .map((each) => ({ ...each, unit: jobs, among, reach: ['≥', 1.5] }))
  // For information: at concurrency 1 it claims 500 jobs ahead, and settles many at once.
  .concat({ row: 'process, concurrency 1', measure: 'work1', unit: jobs, peer: ['graphile-worker-local'] });

const pickupAgainstPostgres = [
  { row: 'pick-up p50, two processes', measure: 'pickup.p50' },
  { row: 'pick-up p99, two processes', measure: 'pickup.p99' },
  { row: 'pick-up p50, one process', measure: 'pickupInside.p50' },
  { row: 'pick-up p99, one process', measure: 'pickupInside.p99' },
].map((each) => ({
  ...each,
  unit: 'ms',
  peer: ['pg-boss', 'graphile-worker'],
  isLowest: true,
  among,
  reach: ['≤', 0.67],
}));

/** The rows of several worker processes, without a target: each peer on its own. */
const severalProcesses = [1, 2, 4].flatMap((number) =>
  [['bullmq'], ['bee-queue'], ['pg-boss', 'graphile-worker-local']].map((peer) => ({
    row: `process with ${number} worker ${number === 1 ? 'process' : 'processes'}`,
    measure: `processes${number}`,
    unit: jobs,
    among,
    peer,
  })),
);

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

/** Returns the rows of the chosen stores. */
export function targets({ stores, sizes, hasPostgres }) {
  const on = (store, rows) =>
    rows.map((each) => ({ ...each, row: `${titles[store]}: ${each.row}`, ours: `longhaul-${store}` }));
  const compared = { redis, sqlite };
  const isThere = ({ peer }) => hasPostgres || !peer?.some((name) => postgres.includes(name));
  const others = [...severalProcesses, ...againstPostgres, ...pickupAgainstPostgres].filter(isThere);
  return stores.flatMap((store) => on(store, [...compared[store], ...others, ...size(sizes)]));
}

const titles = { redis: 'Redis', sqlite: 'SQLite' };
