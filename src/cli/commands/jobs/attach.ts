/** `longhaul attach`: files for a job, files of a job. */
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { didYouMean } from '../../../core/input/did-you-mean.ts';
import { LonghaulError } from '../../../core/ports/errors.ts';
import { bytes, plural } from '../../../wire/spans.ts';
import type { Column } from '../../output/columns.ts';
import { table } from '../../output/columns.ts';
import { print, printJson, remark, screenOf } from '../../output/screen.ts';
import type { Call } from '../../table/call.ts';
import type { FileInfo } from '../../target/files.ts';
import { findJob } from '../../target/known-names.ts';
import type { Target } from '../../target/open-target.ts';
import { withTarget } from '../../target/open-target.ts';
import { progressBar, sendFiles } from './send-files.ts';

export async function attach(call: Call): Promise<number> {
  const [id, ...paths] = call.positionals;
  if (id === undefined) throw call.wrong('ID is missing');
  if (call.text('get') !== undefined && paths.length > 0) throw call.wrong('--get takes no files to give');
  if (call.text('output') !== undefined && call.text('get') === undefined) throw call.wrong('-o goes with --get');
  return withTarget(call, async (target) => {
    const { state } = await findJob(target, id);
    if (call.text('get') !== undefined) return get(call, target, id);
    if (paths.length === 0 && !call.flag('commit')) return list(call, target, id);
    if (state !== 'draft')
      throw new LonghaulError(
        'refused',
        `job ${id} is ${state}: files can be given to a draft alone (longhaul add --draft)`,
      );
    return give(call, target, { id, paths });
  });
}

async function give(
  call: Call,
  target: Target,
  { id, paths }: { id: string; paths: readonly string[] },
): Promise<number> {
  const sent = await sendFiles(target, id, paths);
  if (call.flag('commit')) {
    const answer = await target.longhaul.commit(id);
    if (!answer.ok) throw new LonghaulError('refused', answer.refusal.message);
  }
  if (call.flag('json')) printJson(sent);
  else if (sent.length > 0)
    print(`job ${id} has ${plural(sent.length, 'file')} more: ${sent.map(({ name }) => name).join(', ')}`);
  return 0;
}

async function get(call: Call, target: Target, id: string): Promise<number> {
  const name = call.text('get') ?? '';
  const files = await target.files.list(id);
  const named = files.filter((each) => each.name === name);
  // Where both have the name: what was made, as everywhere.
  const file = named.find(({ direction }) => direction === 'out') ?? named[0];
  if (file === undefined) {
    const near = didYouMean(
      name,
      files.map((each) => each.name),
    );
    throw new LonghaulError('refused', `job ${id} has no file ${name}${near}`);
  }
  const path = call.text('output') ?? basename(name);
  if (call.text('output') === undefined && existsSync(path))
    throw new LonghaulError('refused', `${path} is there already: -o names another place`);
  const progress = progressBar(name);
  await target.files.get(id, file, { path, onBytes: progress.onBytes }).finally(() => progress.clear());
  if (call.flag('json')) printJson({ ...file, path });
  else print(`${path}: ${bytes(file.size)}`);
  return 0;
}

async function list(call: Call, target: Target, id: string): Promise<number> {
  const files = await target.files.list(id);
  if (call.flag('json')) printJson(files);
  else if (files.length === 0) remark(`job ${id} has no files`);
  else for (const line of table(COLUMNS, files, screenOf())) print(line);
  return 0;
}

const COLUMNS: readonly Column<FileInfo>[] = [
  { title: 'NAME', isWhole: true, of: ({ name }) => name },
  { title: 'SIZE', isWhole: true, of: ({ size }) => bytes(size) },
  { title: 'KIND', isWhole: true, of: ({ direction }) => (direction === 'in' ? 'given' : 'made') },
  { title: 'SHA-256', of: ({ sha256 }) => sha256 },
];
