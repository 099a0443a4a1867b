/**
 * Two weeks of ended jobs in the store of a data directory that no node uses yet. The store is opened with the clock of
 * its caller, so that each job is added, claimed and settled at its time in the past.
 */
import { homeAt } from '../../dist/node/home.js';
import { openSqliteStore } from '../../dist/stores/sqlite/open-sqlite-store.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const DAYS = 14;
/** The last job of the past ends before the first node of the screenshots starts. */
export const HISTORY_ENDS_MS = 6 * HOUR;

/** What each queue does in a day: how many jobs, the first start, the distance of starts, and the run times. */
const WORK = [
  { queue: 'transcode', jobs: 5, from: 1 * HOUR, every: 4.2 * HOUR, takes: [2.2 * HOUR, 6.8 * HOUR], names: films },
  { queue: 'thumbnails', jobs: 44, from: 0, every: 31 * MINUTE, takes: [4_000, 45_000], names: pictures },
  { queue: 'import', jobs: 5, from: 3.5 * HOUR, every: 12 * MINUTE, takes: [14 * MINUTE, 52 * MINUTE], names: files },
  {
    queue: 'backup',
    jobs: 1,
    from: 22 * HOUR,
    every: 0,
    takes: [70 * MINUTE, 3.1 * HOUR],
    names: () => 'nightly backup',
  },
];
const FAILURES = [
  ['bad row', 'row 1734 of orders.csv has 11 fields in place of 12'],
  ['connection refused', 'connect to db-2:5432: connection refused'],
];

function films(n) {
  return `reel ${String(n + 1).padStart(3, '0')}.mov`;
}

function pictures(n) {
  return `pictures of reel ${n + 1}`;
}

function files(n) {
  return ['orders.csv', 'prices.json', 'stock.json', 'returns.json', 'invoices.csv'][n % 5];
}

/** Adds the jobs; resolves when the store is closed. */
export async function addHistory(home) {
  const store = await openSqliteStore({ path: homeAt(home).database, clock: 'caller', durability: 'relaxed' });
  try {
    const events = Array.from({ length: DAYS }, (_, day) => day).flatMap((day) => eventsOf(day));
    for (const { at, act } of events.sort((a, b) => a.at - b.at)) await act(store.jobs, at);
  } finally {
    await store.close();
  }
}

function eventsOf(day) {
  const now = Date.now();
  const begin = Math.floor((now - HISTORY_ENDS_MS) / DAY) * DAY - (DAYS - 1 - day) * DAY;
  return WORK.flatMap((work) =>
    Array.from({ length: work.jobs }, (_, n) => {
      const number = day * work.jobs + n;
      const addedAt = begin + work.from + n * work.every;
      const startedAt = addedAt + 2_000 + Math.round(random(number, 1) * 90_000);
      const [least, most] = work.takes;
      const endedAt = startedAt + Math.round(least + random(number, 2) * (most - least));
      return endedAt > now - HISTORY_ENDS_MS ? [] : life({ work, number, addedAt, startedAt, endedAt });
    }).flat(),
  );
}

/** The three calls of one job: add, claim and settle. */
function life({ work: { queue, names }, number, addedAt, startedAt, endedAt }) {
  const id = `${queue}-${addedAt.toString(36)}`;
  let lease = null;
  const add = (jobs, now) => jobs.add([{ id, queue, name: names(number), data: '{}' }], { now });
  const claim = async (jobs, now) => {
    const request = { worker: 'earlier', queues: [queue], limit: 1, leaseMs: DAY, requestId: id };
    [lease = null] = (await jobs.claim(request, { now })).jobs;
  };
  const settle = (jobs, now) =>
    lease === null
      ? null
      : jobs.settle([{ id: lease.id, token: lease.lease.token, ...outcome(queue, number) }], { now });
  return [
    { at: addedAt, act: add },
    { at: startedAt, act: claim },
    { at: endedAt, act: settle },
  ];
}

function outcome(queue, number) {
  const [group, message] = FAILURES[number % FAILURES.length];
  if (queue === 'import' && number % 7 === 3)
    return { kind: 'fail', failure: { group, message, detail: null }, delayMs: 0, final: true };
  return { kind: 'complete', result: 'null' };
}

/** A number from 0 to 1 that depends only on its arguments, so that two runs have the same history. */
function random(number, part) {
  const x = Math.sin(number * 12.9898 + part * 78.233) * 43_758.5453;
  return x - Math.floor(x);
}
