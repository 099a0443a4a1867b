/** `longhaul import`: jobs of Blueque, qless or Worqr, read from their Redis and written here. Nothing is written there. */
import { randomUUID } from 'node:crypto';
import type { ForeignKeys, ForeignStore } from '../../../importers/foreign-job.ts';
import { type ImportResult, importJobs } from '../../../importers/import-jobs.ts';
import { readBlueque } from '../../../importers/read-blueque.ts';
import { readQless } from '../../../importers/read-qless.ts';
import { readWorqr } from '../../../importers/read-worqr.ts';
import { openKeyReader } from '../../../stores/redis/calls/read-keys.ts';
import { print } from '../../output/screen.ts';
import type { Call } from '../../table/call.ts';
import { withTarget } from '../../target/open-target.ts';
import { nameOf } from './migrate.ts';

type Read = (keys: ForeignKeys, call: Call) => Promise<ForeignStore>;
const SYSTEMS: Readonly<Record<string, { readonly shown: string; readonly read: Read }>> = {
  'from-blueque': { shown: 'Blueque', read: readBlueque },
  'from-qless': { shown: 'qless', read: readQless },
  'from-worqr': { shown: 'Worqr', read: (keys, call) => readWorqr(keys, call.text('prefix')) },
};

export async function importAll(call: Call): Promise<number> {
  if (call.positionals.length > 0) throw call.wrong('too many words');
  const given = Object.entries(SYSTEMS).filter(([name]) => call.text(name) !== undefined);
  const [only] = given;
  if (only === undefined || given.length > 1)
    throw call.wrong('name one of --from-blueque, --from-qless and --from-worqr');
  const [name, { shown, read }] = only;
  const url = call.text(name) ?? '';
  const keys = await openKeyReader(url);
  try {
    const found = await read(keys, call);
    const result = await withTarget(call, ({ longhaul }) =>
      importJobs(found, {
        store: longhaul.store,
        origin: `${shown} at ${nameOf(url)}`,
        takesRunning: call.flag('running'),
        isDryRun: call.flag('dry-run'),
        now: Date.now(),
        importId: `import-${randomUUID()}`,
      }),
    );
    return tell(call, result);
  } finally {
    keys.close();
  }
}

function tell(call: Call, result: ImportResult): number {
  if (call.flag('json')) {
    print(JSON.stringify(result));
    return 0;
  }
  const { imported, known, besides, unmapped } = result;
  const { tracked, throttles, records } = besides;
  const more = { 'tracked marks': tracked, throttles, 'records of settings': records };
  const others = Object.entries(more).filter(([, count]) => count > 0);
  const words = [...Object.entries(imported), ...others].map(([what, count]) => `${count} ${what}`);
  print(`${call.flag('dry-run') ? 'would import' : 'imported'} ${words.join(', ')}; ${known} were here already`);
  for (const why of unmapped) print(`left out: ${why}`);
  return 0;
}
