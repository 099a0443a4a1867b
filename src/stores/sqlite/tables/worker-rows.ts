/**
 * Registered workers, and the last two claims of each worker.
 *
 * Invariant: the claims that are remembered here equal those that the open transaction sees.
 */
import type { ClaimedLease, RememberedClaim, WorkerRow } from '../../../core/ports/table.ts';
import type { Database, Statement } from '../engine/sqlite-database.ts';
import { allRows, execute, firstRow } from '../engine/sqlite-database.ts';

type StoredWorker = readonly [
  id: string,
  host: string,
  pid: number,
  queues: string,
  info: string,
  registeredAt: number,
  seenAt: number,
  until: number,
];
type StoredClaims = readonly [
  request: string,
  first: number,
  last: number,
  earlierRequest: string | null,
  earlierFirst: number | null,
  earlierLast: number | null,
];
const COLUMNS = 'id, host, pid, queues, info, registered_at, seen_at, until';
/** How many workers' claims are remembered. */
const MAX_KNOWN = 1_000;

export class WorkerRows {
  readonly #get: Statement;
  readonly #all: Statement;
  readonly #put: Statement;
  readonly #remove: Statement;
  readonly #claims: Statement;
  readonly #leases: Statement;
  readonly #remember: Statement;
  readonly #forgetClaims: Statement;
  readonly #forgetUnregisteredWorkers: Statement;
  readonly #known = new Map<string, StoredClaims | undefined>();

  constructor(db: Database) {
    this.#get = db.prepare(`SELECT ${COLUMNS} FROM workers WHERE id = ?`);
    this.#all = db.prepare(`SELECT ${COLUMNS} FROM workers`);
    this.#put = db.prepare(`INSERT OR REPLACE INTO workers (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
    this.#remove = db.prepare('DELETE FROM workers WHERE id = ?');
    this.#claims = db.prepare(`SELECT request, first_token, last_token,
      earlier_request, earlier_first_token, earlier_last_token FROM claims WHERE worker = ?`);
    this.#leases = db.prepare(`SELECT id, token FROM jobs INDEXED BY jobs_leased
      WHERE lease_until IS NOT NULL AND token BETWEEN ? AND ? ORDER BY token`);
    this.#remember = db.prepare(`INSERT INTO claims (worker, request, at, first_token, last_token)
      VALUES (?, ?, ?, ?, ?) ON CONFLICT (worker) DO UPDATE SET
        earlier_request = request, earlier_first_token = first_token, earlier_last_token = last_token,
        request = excluded.request, at = excluded.at,
        first_token = excluded.first_token, last_token = excluded.last_token`);
    this.#forgetClaims = db.prepare('DELETE FROM claims WHERE worker = ?');
    this.#forgetUnregisteredWorkers = db.prepare(
      'DELETE FROM claims WHERE at <= ? AND worker NOT IN (SELECT id FROM workers)',
    );
  }

  /** Forgets what is known of the claims: another engine wrote, or the transaction was rolled back. */
  forget(): void {
    this.#known.clear();
  }

  get(id: string): WorkerRow | undefined {
    const row = firstRow<StoredWorker>(this.#get, id);
    return row === undefined ? undefined : readWorker(row);
  }

  all(): readonly WorkerRow[] {
    return allRows<StoredWorker>(this.#all)
      .map(readWorker)
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  put({ id, host, pid, queues, info, registeredAt, seenAt, until }: WorkerRow): void {
    this.#put.run(id, host, pid, JSON.stringify(queues), info, registeredAt, seenAt, until);
  }

  remove(id: string): void {
    this.#remove.run(id);
    this.#forgetClaims.run(id);
    this.#known.delete(id);
  }

  /** The leases are queried only for the rare repeated claim, and only those that are still held: it needs no others. */
  leasesOfClaim(worker: string, requestId: string): readonly ClaimedLease[] | undefined {
    const row = this.#storedClaims(worker);
    if (row?.[0] === requestId) return this.#leasesBetween(row[1], row[2]);
    return row?.[3] === requestId ? this.#leasesBetween(row[4], row[5]) : undefined;
  }

  #storedClaims(worker: string): StoredClaims | undefined {
    if (!this.#known.has(worker)) this.#know(worker, firstRow<StoredClaims>(this.#claims, worker));
    return this.#known.get(worker);
  }

  #know(worker: string, claims: StoredClaims | undefined): void {
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.set(worker, claims);
  }

  #leasesBetween(first: number | null, last: number | null): readonly ClaimedLease[] {
    return allRows<readonly [string, number]>(this.#leases, first, last).map(([id, token]) => ({ id, token }));
  }

  rememberClaim(worker: string, { requestId, leases }: RememberedClaim, at: number): void {
    const first = leases[0]?.token ?? 0;
    const last = leases.at(-1)?.token ?? 0;
    const [earlierId = null, earlierFirst = null, earlierLast = null] = this.#storedClaims(worker) ?? [];
    execute(this.#remember, worker, requestId, at, first, last);
    this.#know(worker, [requestId, first, last, earlierId, earlierFirst, earlierLast]);
  }

  /** Deletes claims of unregistered workers up to this time: no other call would delete them. */
  forgetUnregisteredWorkers(until: number): void {
    execute(this.#forgetUnregisteredWorkers, until);
    this.#known.clear();
  }
}

function readWorker([id, host, pid, queues, info, registeredAt, seenAt, until]: StoredWorker): WorkerRow {
  return { id, host, pid, queues: JSON.parse(queues) as string[], info, registeredAt, seenAt, until };
}
