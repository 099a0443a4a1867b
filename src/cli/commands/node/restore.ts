/**
 * `longhaul restore`: creates a data directory from a backup. Jobs that ran when the backup was made wait again, at the
 * front of their queues, and count an interruption. Lease tokens continue far above all tokens of the backup, so that a
 * settlement of an earlier attempt is refused.
 */
import { resolve } from 'node:path';
import { connect } from '../../../library/index.ts';
import { restoreHome } from '../../../node/backup/restore-home.ts';
import type { Home } from '../../../node/home.ts';
import { raiseEpoch } from '../../../stores/sqlite/backup-database.ts';
import { progressBar } from '../../output/progress.ts';
import { print, printNotice } from '../../output/screen.ts';
import type { Args } from '../../table/args.ts';
import { homeOf } from '../../table/command.ts';

const PAGE = 500;

export async function restore(args: Args): Promise<number> {
  const from = args.text('from');
  const folder = args.text('home');
  if (from === undefined || folder === undefined) throw args.usageError('--from DIR and --home NEW are both required');
  if (args.positionals.length > 0) throw args.usageError('too many arguments');
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
  print(`restored ${home.root} as of ${manifest.madeAt}: ${manifest.files.length} files, all hashes match`);
  if (manifest.store === 'elsewhere')
    printNotice('longhaul: the jobs were in another store, which needs its own restore');
  else
    print(
      `${returned} running ${returned === 1 ? 'job waits' : 'jobs wait'} again; start the node with longhaul serve --home ${home.root}`,
    );
  return 0;
}

/** Releases the running jobs and raises the token epoch; returns how many jobs ran. */
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
