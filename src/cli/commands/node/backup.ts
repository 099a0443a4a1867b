/** `longhaul backup`: copies a data directory while its node runs, with a manifest of hashes that `restore` verifies. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { LonghaulError } from '../../../core/ports/errors.ts';
import { packageVersion } from '../../../library/package-version.ts';
import { backupHome } from '../../../node/backup/backup-home.ts';
import type { Home } from '../../../node/home.ts';
import { backupDatabase } from '../../../stores/sqlite/backup-database.ts';
import { checkHeader } from '../../../stores/sqlite/engine/connection.ts';
import { bytes } from '../../../wire/spans.ts';
import { progressBar } from '../../output/progress.ts';
import { print, printNotice } from '../../output/screen.ts';
import type { Args } from '../../table/args.ts';
import { homeOf } from '../../table/command.ts';

export async function backup(args: Args): Promise<number> {
  const to = args.text('to');
  if (to === undefined) throw args.usageError('--to DIR is missing');
  if (args.positionals.length > 0) throw args.usageError('too many arguments');
  const home = homeOf(args.text('home'));
  if (!existsSync(home.queues))
    throw new LonghaulError('bad-input', `${home.root} is not a data directory: choose one with --home`);
  const hasDatabase = existsSync(home.database);
  if (!hasDatabase)
    printNotice(`longhaul: ${home.database} does not exist: the jobs are in another store, which needs its own backup`);
  else checkHeader(home.database);
  const { files } = await copy(home, resolve(to), { hasLogs: args.flag('logs'), hasDatabase });
  const total = files.reduce((sum, file) => sum + file.bytes, 0);
  print(`backed up ${home.root}: ${files.length} files, ${bytes(total)}, in ${join(resolve(to))}`);
  return 0;
}

function copy(home: Home, to: string, { hasLogs, hasDatabase }: { hasLogs: boolean; hasDatabase: boolean }) {
  process.umask(0o077);
  const bar = progressBar('backup');
  const pages = progressBar('jobs');
  const copyDatabase = (target: string): Promise<void> =>
    backupDatabase(home.database, target, ({ pages: done, totalPages }) => pages.onBytes(done, totalPages)).finally(
      () => pages.clear(),
    );
  return backupHome({
    home,
    to,
    version: packageVersion(),
    now: Date.now(),
    hasLogs,
    copyDatabase: hasDatabase ? copyDatabase : null,
    onProgress: ({ bytes: done, totalBytes }) => bar.onBytes(done, totalBytes),
  }).finally(() => bar.clear());
}
