/** `longhaul backup`: a copy of a home while its node runs, with a list of hashes by which `restore` checks it. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { LonghaulError } from '../../../core/ports/errors.ts';
import { backupHome } from '../../../node/backup/backup-home.ts';
import type { Home } from '../../../node/home.ts';
import { backupDatabase } from '../../../stores/sqlite/backup-database.ts';
import { checkHeader } from '../../../stores/sqlite/engine/connection.ts';
import { bytes } from '../../../wire/spans.ts';
import { print, remark } from '../../output/screen.ts';
import { versionOfPackage } from '../../package-version.ts';
import type { Call } from '../../table/call.ts';
import { homeOf } from '../../table/command.ts';
import { progressBar } from '../jobs/send-files.ts';

export async function backup(call: Call): Promise<number> {
  const to = call.text('to');
  if (to === undefined) throw call.wrong('--to FOLDER is missing');
  if (call.positionals.length > 0) throw call.wrong('too many words');
  const home = homeOf(call.text('home'));
  if (!existsSync(home.queues))
    throw new LonghaulError('bad-input', `${home.root} is no home folder: nothing to back up`);
  const hasDatabase = existsSync(home.database);
  if (!hasDatabase) remark(`${home.database} is not there: the jobs are in another store, which needs its own backup`);
  else checkHeader(home.database);
  const { files } = await copy(home, resolve(to), { hasLogs: call.flag('logs'), hasDatabase });
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
    version: versionOfPackage(),
    now: Date.now(),
    hasLogs,
    copyDatabase: hasDatabase ? copyDatabase : null,
    onProgress: ({ bytes: done, totalBytes }) => bar.onBytes(done, totalBytes),
  }).finally(() => bar.clear());
}
