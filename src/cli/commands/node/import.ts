/** `longhaul import`: imports jobs of Blueque, qless or Worqr from their Redis. Only reads the source. */
import { randomUUID } from 'node:crypto';
import type { ForeignKeys, ForeignStore } from '../../../importers/foreign-job.ts';
import { type ImportResult, importJobs } from '../../../importers/import-jobs.ts';
import { readBlueque } from '../../../importers/read-blueque.ts';
import { readQless } from '../../../importers/read-qless.ts';
import { readWorqr } from '../../../importers/read-worqr.ts';
import { openKeyReader } from '../../../stores/redis/calls/read-keys.ts';
import { print } from '../../output/screen.ts';
import type { Args } from '../../table/args.ts';
import { withTarget } from '../../target/open-target.ts';
import { redactAddress } from './migrate.ts';

type Read = (keys: ForeignKeys, args: Args) => Promise<ForeignStore>;
const SYSTEMS: Readonly<Record<string, { readonly system: string; readonly read: Read }>> = {
  'from-blueque': { system: 'Blueque', read: readBlueque },
  'from-qless': { system: 'qless', read: readQless },
  'from-worqr': { system: 'Worqr', read: (keys, args) => readWorqr(keys, args.text('prefix')) },
};

export async function importAll(args: Args): Promise<number> {
  if (args.positionals.length > 0) throw args.usageError('too many arguments');
  const given = Object.entries(SYSTEMS).filter(([name]) => args.text(name) !== undefined);
  const [only] = given;
  if (only === undefined || given.length > 1)
    throw args.usageError('exactly one of --from-blueque, --from-qless and --from-worqr is required');
  const [name, { system, read }] = only;
  const url = args.text(name) ?? '';
  const keys = await openKeyReader(url);
  try {
    const found = await read(keys, args);
    const result = await withTarget(args, ({ longhaul }) =>
      importJobs(found, {
        store: longhaul.store,
        origin: `${system} at ${redactAddress(url)}`,
        takesRunning: args.flag('running'),
        isDryRun: args.flag('dry-run'),
        now: Date.now(),
        importId: `import-${randomUUID()}`,
      }),
    );
    return printResult(args, result);
  } finally {
    keys.close();
  }
}

function printResult(args: Args, result: ImportResult): number {
  if (args.flag('json')) {
    print(JSON.stringify(result));
    return 0;
  }
  const { imported, known, besides, unmapped } = result;
  const { tracked, throttles, records } = besides;
  const more = { 'tracked jobs': tracked, throttles, 'settings records': records };
  const others = Object.entries(more).filter(([, count]) => count > 0);
  const counts = [...Object.entries(imported), ...others].map(([kind, count]) => `${count} ${kind}`);
  print(`${args.flag('dry-run') ? 'would import' : 'imported'} ${counts.join(', ')}; ${known} existed already`);
  for (const reason of unmapped) print(`not imported: ${reason}`);
  return 0;
}
