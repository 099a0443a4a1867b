/**
 * Checks the store of a data directory: integrity, durability and version. Also returns a read-only lookup of its jobs.
 */
import { existsSync } from 'node:fs';
import type { ErrorCode } from '../../../core/ports/errors.ts';
import { LonghaulError } from '../../../core/ports/errors.ts';
import type { Store } from '../../../core/ports/store.ts';
import type { Longhaul } from '../../../library/index.ts';
import { connect } from '../../../library/index.ts';
import type { JobLookup } from '../../../node/doctor/check-orphans.ts';
import type { Finding } from '../../../node/doctor/finding.ts';
import { fault, fine, note, warning } from '../../../node/doctor/finding.ts';
import type { Home } from '../../../node/home.ts';
import type { DatabaseFacts } from '../../../stores/sqlite/check-database.ts';
import { checkDatabase, findStoredJobs, listStoredRecords } from '../../../stores/sqlite/check-database.ts';
import { checkRows } from '../../../stores/sqlite/tables/check-rows.ts';
import { storeMessages } from '../../daemon/serve-checks.ts';
import { redactPassword } from '../../daemon/startup-lines.ts';

export interface StoreInspection {
  readonly findings: readonly Finding[];
  /** Null if the store cannot be read. */
  readonly jobs: JobLookup | null;
  readonly seenAt: number | null;
  /** The store, if several nodes may share it; null if it belongs to this data directory or cannot be read. */
  readonly shared: Store | null;
  close(): Promise<void>;
}

const LARGE_LOG_BYTES = 256 * 1024 * 1024;
const PAGE = 500;
/** How many damaged jobs are named; the others are counted. */
const MAX_NAMED = 20;
const JOB_FIX = 'restore it from a backup, or delete it and add it again';
const NOT_SHARED = { shared: null, close: (): Promise<void> => Promise.resolve() };

const FIXES: Partial<Readonly<Record<ErrorCode, string>>> = {
  'data-corrupt': 'stop the node, keep a copy of the file and restore a backup: longhaul restore --from … --home …',
  'store-incompatible': 'upgrade Longhaul, or choose another data directory with --home',
  'store-unavailable': 'stop the process that locks it, or wait until it ends',
};

export function inspectDatabase(home: Home, { isDeep }: { isDeep: boolean }): StoreInspection {
  const { database } = home;
  if (!existsSync(database)) return withoutDatabase(home);
  try {
    const facts = checkDatabase(database);
    const jobs: JobLookup = {
      find: async (ids) => findStoredJobs(database, ids),
      records: async (kind) => listStoredRecords(database, kind),
    };
    const findings = [...findingsOf(facts, database), ...(isDeep ? rowFindings(database) : [])];
    return { findings, jobs, seenAt: facts.seenAt, ...NOT_SHARED };
  } catch (error) {
    if (!(error instanceof LonghaulError)) throw error;
    return {
      findings: [fault('database', error.message, FIXES[error.code] ?? '')],
      jobs: null,
      seenAt: null,
      ...NOT_SHARED,
    };
  }
}

function rowFindings(path: string): readonly Finding[] {
  const { jobs, damaged, problems } = checkRows(path);
  const found = [
    ...problems.map((problem) => fault('database', `${path} is damaged: ${problem}`, FIXES['data-corrupt'] ?? '')),
    ...damaged
      .slice(0, MAX_NAMED)
      .map(({ id, part }) => fault('jobs', `job ${id}: its ${part} does not match its checksum`, JOB_FIX)),
  ];
  const more = damaged.length - MAX_NAMED;
  if (more > 0) found.push(fault('jobs', `${more} more jobs are damaged`, JOB_FIX));
  return found.length > 0 ? found : [fine('jobs', `${jobs} jobs: all checksums match`)];
}

function withoutDatabase({ database }: Home): StoreInspection {
  const rest = { jobs: null, seenAt: null, ...NOT_SHARED };
  if (!existsSync(`${database}-wal`))
    return { findings: [note('database', `${database} does not exist yet: longhaul serve creates it`)], ...rest };
  const message = `${database} is missing, but its write-ahead log exists: the file was removed or not copied`;
  return {
    findings: [fault('database', message, 'put the file back, or restore a backup: longhaul restore')],
    ...rest,
  };
}

function findingsOf(facts: DatabaseFacts, path: string): readonly Finding[] {
  const { sqlite, oldestSqlite, journalMode, schema, newestSchema, logBytes } = facts;
  const found: Finding[] = [];
  if (sqlite.localeCompare(oldestSqlite, 'en', { numeric: true }) < 0)
    found.push(fault('database', `SQLite ${sqlite} is too old`, `install SQLite ${oldestSqlite} or newer`));
  if (schema > newestSchema)
    found.push(
      fault(
        'database',
        `${path} has schema ${schema}; this version of Longhaul supports up to ${newestSchema}`,
        'upgrade Longhaul',
      ),
    );
  if (journalMode !== 'wal')
    found.push(
      warning('durability', `${path} has no write-ahead log (${journalMode})`, 'start the node: it enables WAL'),
    );
  if (logBytes > LARGE_LOG_BYTES)
    found.push(
      warning(
        'durability',
        `the write-ahead log of ${path} has ${logBytes} bytes: a long read transaction keeps it`,
        'end the process that reads the database',
      ),
    );
  return [
    ...found,
    fine('database', `${path} is intact: schema ${schema}, SQLite ${sqlite}, ${facts.bytes} bytes`),
    ...(journalMode === 'wal'
      ? [fine('durability', 'every commit is on disk before it is acknowledged (WAL, FULL)')]
      : []),
  ];
}

export async function inspectServer(address: string): Promise<StoreInspection> {
  let longhaul: Longhaul;
  try {
    longhaul = await connect(address);
  } catch (error) {
    if (!(error instanceof LonghaulError)) throw error;
    const cure = 'start the server or correct its settings (docs/redis.md), or choose another store with --store';
    const findings = [fault('store', `${redactPassword(address)}: ${error.message}`, cure)];
    return { findings, jobs: null, seenAt: null, ...NOT_SHARED };
  }
  const cure = 'change the settings of the server (docs/redis.md)';
  return {
    findings: [
      fine('store', `${redactPassword(address)} answers`),
      ...storeMessages(longhaul.store, 'facts').map((message) => fine('store', message)),
      ...storeMessages(longhaul.store, 'notices').map((message) => warning('store', message, cure)),
    ],
    jobs: lookupIn(longhaul),
    seenAt: null,
    shared: longhaul.store,
    close: () => longhaul.close(),
  };
}

function lookupIn({ store }: Longhaul): JobLookup {
  return {
    find: async (ids) => {
      const pages = Array.from({ length: Math.ceil(ids.length / PAGE) }, (_, page) =>
        ids.slice(page * PAGE, (page + 1) * PAGE),
      );
      return (await Promise.all(pages.map((page) => store.jobs.find(page)))).flat();
    },
    async records(kind) {
      const found: { key: string; value: string }[] = [];
      for (let after: string | undefined; ; after = found.at(-1)?.key) {
        const page = await store.records.list({ kind, limit: PAGE, ...(after !== undefined && { after }) });
        found.push(...page);
        if (page.length < PAGE) return found;
      }
    },
  };
}
