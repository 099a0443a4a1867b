/**
 * `longhaul restore`: a home from a backup. Nobody works the jobs that ran when it was made, so they wait again, at the
 * front, and count an interruption; tokens go on far above all that were given, so that whatever an earlier attempt still
 * wants to say is refused, wherever it says it.
 */
import { resolve } from 'node:path';
import { connect } from '../../../library/index.ts';
import { restoreHome } from '../../../node/backup/restore-home.ts';
import type { Home } from '../../../node/home.ts';
import { raiseEpoch } from '../../../stores/sqlite/backup-database.ts';
import { print, remark } from '../../output/screen.ts';
import type { Call } from '../../table/call.ts';
import { homeOf } from '../../table/command.ts';
import { progressBar } from '../jobs/send-files.ts';

const PAGE = 500;

export async function restore(call: Call): Promise<number> {
  const from = call.text('from');
  const folder = call.text('home');
  if (from === undefined || folder === undefined) throw call.wrong('--from FOLDER and --home NEW are both needed');
  if (call.positionals.length > 0) throw call.wrong('too many words');
  process.umask(0o077);
  const home = homeOf(folder);
  const bar = progressBar('restore');
  let returned = 0;
  const manifest = await restoreHome({
    from: resolve(from),
    home,
    renewStore: async (draft) => void (returned = await renewStore(draft)),
    onProgress: ({ bytes, totalBytes }) => bar.onBytes(bytes, totalBytes),
  }).finally(() => bar.clear());
  print(`restored ${home.root} as it was at ${manifest.madeAt}: ${manifest.files.length} files, each as it was`);
  if (manifest.store === 'elsewhere') remark('its jobs were in another store, which needs its own restore');
  else
    print(
      `${returned} running ${returned === 1 ? 'job waits' : 'jobs wait'} again; longhaul serve --home ${home.root} works them`,
    );
  return 0;
}

/** Answers how many jobs ran. */
async function renewStore({ root, database }: Home): Promise<number> {
  const longhaul = await connect(root);
  let returned = 0;
  try {
    for (;;) {
      const count = await releasePage(longhaul);
      if (count === 0) break;
      returned += count;
    }
  } finally {
    await longhaul.close();
  }
  raiseEpoch(database, Date.now());
  return returned;
}

async function releasePage({ store }: Awaited<ReturnType<typeof connect>>): Promise<number> {
  const { jobs } = await store.jobs.list({ state: 'running', order: 'newest', limit: PAGE });
  const settlements = jobs.flatMap(({ id, lease }) =>
    lease === null ? [] : [{ id, token: lease.token, kind: 'release', reason: 'restored from a backup' } as const],
  );
  await store.jobs.settle(settlements);
  return settlements.length;
}
