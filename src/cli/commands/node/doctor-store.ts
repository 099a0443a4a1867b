/**
 * A look at the store of a home: whether it is whole, durable and of a version that can be used. Answers also how its
 * jobs can be asked for, without changing anything in it.
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
import { checkDatabase, lookUpJobs, lookUpRecords } from '../../../stores/sqlite/check-database.ts';
import { checkRows } from '../../../stores/sqlite/tables/check-rows.ts';
import { linesOf } from '../../daemon/serve-checks.ts';
import { withoutPassword } from '../../daemon/serve-lines.ts';

export interface StoreLook {
  readonly findings: readonly Finding[];
  /** Null when the store cannot be asked. */
  readonly jobs: JobLookup | null;
  readonly seenAt: number | null;
  /** Where nodes may share it; null where it is this home's alone, or cannot be asked. */
  readonly shared: Store | null;
  close(): Promise<void>;
}

const LARGE_LOG_BYTES = 256 * 1024 * 1024;
const PAGE = 500;
/** Damaged jobs that are named; the others are counted. */
const MOST_NAMED = 20;
const CURE_OF_JOB = 'bring it back from a backup, or delete it and add it again';
const ALONE = { shared: null, close: (): Promise<void> => Promise.resolve() };

const CURES: Partial<Readonly<Record<ErrorCode, string>>> = {
  'data-corrupt': 'stop the node, keep a copy of the file, and bring a backup back: longhaul restore --from … --home …',
  'store-incompatible': 'upgrade Longhaul, or name another home: --home',
  'store-unavailable': 'end the process that holds it, or wait for it',
};

export function lookAtDatabase(home: Home, { isDeep }: { isDeep: boolean }): StoreLook {
  const { database } = home;
  if (!existsSync(database)) return withoutDatabase(home);
  try {
    const facts = checkDatabase(database);
    const jobs: JobLookup = {
      find: async (ids) => lookUpJobs(database, ids),
      records: async (kind) => lookUpRecords(database, kind),
    };
    const findings = [...findingsOf(facts, database), ...(isDeep ? findingsOfRows(database) : [])];
    return { findings, jobs, seenAt: facts.seenAt, ...ALONE };
  } catch (error) {
    if (!(error instanceof LonghaulError)) throw error;
    return {
      findings: [fault('database', error.message, CURES[error.code] ?? '')],
      jobs: null,
      seenAt: null,
      ...ALONE,
    };
  }
}

function findingsOfRows(path: string): readonly Finding[] {
  const { jobs, damaged, problems } = checkRows(path);
  const restore = 'stop the node, keep a copy of the file, and bring a backup back: longhaul restore --from … --home …';
  const found = [
    ...problems.map((words) => fault('database', `${path} is damaged: ${words}`, restore)),
    ...damaged
      .slice(0, MOST_NAMED)
      .map(({ id, part }) => fault('jobs', `job ${id}: its ${part} is not what was written`, CURE_OF_JOB)),
  ];
  const more = damaged.length - MOST_NAMED;
  if (more > 0) found.push(fault('jobs', `${more} more jobs are damaged`, CURE_OF_JOB));
  return found.length > 0 ? found : [fine('jobs', `${jobs} jobs, all as they were written`)];
}

function withoutDatabase({ database }: Home): StoreLook {
  const rest = { jobs: null, seenAt: null, ...ALONE };
  if (!existsSync(`${database}-wal`))
    return { findings: [note('database', `there is no ${database} yet: longhaul serve makes it`)], ...rest };
  const message = `${database} is gone, but its log is there: it was removed, or did not come along in a copy`;
  return {
    findings: [fault('database', message, 'put the file back, or restore a backup: longhaul restore')],
    ...rest,
  };
}

function findingsOf(facts: DatabaseFacts, path: string): readonly Finding[] {
  const { sqlite, oldestSqlite, journalMode, schema, newestSchema, logBytes } = facts;
  const found: Finding[] = [];
  if (sqlite.localeCompare(oldestSqlite, 'en', { numeric: true }) < 0)
    found.push(fault('database', `SQLite ${sqlite} is too old`, `install one from ${oldestSqlite} on`));
  if (schema > newestSchema)
    found.push(
      fault('database', `${path} has schema ${schema}; this Longhaul knows ${newestSchema}`, 'upgrade Longhaul'),
    );
  if (journalMode !== 'wal')
    found.push(
      warning('durability', `${path} has no write-ahead log (${journalMode})`, 'start the node: it turns it on'),
    );
  if (logBytes > LARGE_LOG_BYTES)
    found.push(
      warning(
        'durability',
        `the log of ${path} has ${logBytes} bytes: somebody reads for very long`,
        'end that reader',
      ),
    );
  return [
    ...found,
    fine('database', `${path} is whole: schema ${schema}, SQLite ${sqlite}, ${facts.bytes} bytes`),
    ...(journalMode === 'wal'
      ? [fine('durability', 'every commit is on the disk before it is answered (WAL, FULL)')]
      : []),
  ];
}

export async function lookAtServer(address: string): Promise<StoreLook> {
  let longhaul: Longhaul;
  try {
    longhaul = await connect(address);
  } catch (error) {
    if (!(error instanceof LonghaulError)) throw error;
    const cure = 'correct its settings or start it (docs/redis.md), or name another store: --store';
    const findings = [fault('store', `${withoutPassword(address)}: ${error.message}`, cure)];
    return { findings, jobs: null, seenAt: null, ...ALONE };
  }
  const cure = 'change it in the settings of the server: docs/redis.md';
  return {
    findings: [
      fine('store', `${withoutPassword(address)} answers`),
      ...linesOf(longhaul.store, 'facts').map((words) => fine('store', words)),
      ...linesOf(longhaul.store, 'notices').map((words) => warning('store', words, cure)),
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
