/**
 * Whatever a store keeps either moves house or is named here with the reason why it need not. So a table or a key that is
 * new fails this test until somebody has thought of the move: src/core/ports/migration.ts, and the shelves of each store.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { MOVED_TABLES } from '../../src/stores/sqlite/tables/migration-rows.ts';

const texts = (folder: string, end: string): string => {
  const from = new URL(`../../src/stores/${folder}/`, import.meta.url);
  const names = readdirSync(from, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith(end));
  return names.map((name) => readFileSync(new URL(name, from), 'utf8')).join('\n');
};

const OTHER_TABLES: Readonly<Record<string, string>> = {
  meta: 'numbers that were given go along in every batch; the clock is the new store’s own',
  records: 'moves; kinds that nodes write of themselves stay (UNMIGRATED_RECORDS)',
  claims: 'what a worker claimed here last: it claims anew there',
  workers: 'a worker registers with the store it has open',
  peers: 'processes that have this very file open',
  events: 'for those processes',
};

test('Every table of the SQLite schema moves, or is known not to.', () => {
  const tables = [...texts('sqlite/schema', '.sql').matchAll(/CREATE TABLE (\w+)/g)].map(([, name]) => name ?? '');
  expect([...MOVED_TABLES, ...Object.keys(OTHER_TABLES)].sort()).toEqual([...new Set(tables)].sort());
});

/** By the part that brings them, or why none does. */
const FAMILIES: Readonly<Record<string, readonly string[]>> = {
  records: ['records', 'names', 'expiring'],
  queues: ['queues', 'paces', 'rates', 'turns'],
  statistics: ['j', 'cells', 'buckets'],
  'jobs: the record and its texts': ['j', 'big', 's'],
  'jobs: by state': ['draft', 'ready', 'later', 'blocked', 'done', 'relayed', 'group', 'groups', 'tag', 'tags'],
  'jobs: steps': ['steps'],
  'jobs: equals': ['equals', 'folds'],
  'jobs: edges and keys': ['up', 'kids', 'wait', 'keys', 'periods'],
  'none: new plain jobs alone; what moves waits in the sorted sets': ['fifo', 'gone'],
  'none: found out anew by the next claim': ['parked', 'park', 'parks', 'needs'],
  'none: the buckets of throttles begin full and open': ['bucket'],
  'none: running jobs finish where they are': ['running', 'slots'],
  'none: a worker registers with the store it has open': ['workers'],
  'none: where results begin is found out anew by the next maintenance': ['results'],
  'logs: copied by node/migration/copy-logs.ts': ['log', 'logs', 'logged'],
  'none: a claim that waits there begins anew': ['marker'],
  'none: channels': ['events', 'work'],
};

test('Every family of keys in Redis moves, or is known not to.', () => {
  const lua = texts('redis/lua', '.lua');
  const uses = [
    /P \.\. '([a-z]+)/g,
    /\b(?:put|drop|list|set|enters)\('([a-z]+)/g,
    /writeMany\('[A-Z]+', '([a-z]+)/g,
    /(?:return|and|or|=) '([a-z]+):'/g,
  ];
  const found = new Set(uses.flatMap((use) => [...lua.matchAll(use)].map(([, name]) => name)));
  // Addresses of keys and throttles inside a family, and heads of lines that are no keys.
  for (const name of ['q', 'k', 't', 'n', 'r', 'edge']) found.delete(name);
  const known = new Set(Object.values(FAMILIES).flat());
  expect([...found].filter((name) => !known.has(name ?? ''))).toEqual([]);
  expect([...known].filter((name) => !found.has(name))).toEqual([]);
});
