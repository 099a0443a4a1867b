/** Calls of the Lua scripts of a store migration, for lua-abort.test.ts. */
import {
  MIGRATION_PARTS,
  type MigrationBatch,
  type MigrationPart,
  type MigrationPort,
  type MigrationState,
} from '../../src/core/ports/migration.ts';
import { START, type Workbench } from '../contract/workbench.ts';
import type { Scenario } from './abort-scenarios.ts';

const TARGET: MigrationState = {
  move: 'm',
  role: 'target',
  other: 'elsewhere',
  state: 'moving',
  at: START,
  done: null,
  left: [],
};

/** The content of a store before it was cleared, to be written back. */
const batches = new WeakMap<Workbench, readonly MigrationBatch[]>();

async function readAll(migration: MigrationPort): Promise<readonly MigrationBatch[]> {
  const numbers = await migration.numbers();
  const read = async (part: MigrationPart) => (await migration.read(part, null, 1_000)).rows;
  const parts = await Promise.all(MIGRATION_PARTS.map(async (part) => ({ part, rows: await read(part) })));
  return parts.map((each) => ({ move: 'm', gone: [], numbers, done: null, ...each }));
}

/** `fill` adds data of every kind to the store. */
export function migrationScenarios(fill: Scenario['prepare']): readonly Scenario[] {
  const asTarget: Scenario['prepare'] = async (bench) => {
    await fill(bench);
    batches.set(bench, await readAll(bench.store.migration));
    await bench.store.migration.stand(TARGET, null);
  };
  return [
    {
      name: 'migration-state',
      prepare: fill,
      call: (bench) => bench.store.migration.stand(TARGET, null),
      repeatsAnswer: true,
      isClosed: true,
    },
    {
      name: 'migration-clear',
      prepare: asTarget,
      call: (bench) => bench.store.migration.clear('m').then(() => null),
      repeatsAnswer: true,
      isClosed: true,
    },
    {
      name: 'migration-write',
      prepare: async (bench) => {
        await asTarget(bench);
        await bench.store.migration.clear('m');
      },
      call: async (bench) => {
        for (const batch of batches.get(bench) ?? []) await bench.store.migration.write(batch);
        return null;
      },
      repeatsAnswer: true,
      isClosed: true,
    },
  ];
}
