/** `longhaul attach`: attaches files to a job, downloads one, or lists them. */
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { didYouMean } from '../../../core/input/did-you-mean.ts';
import { LonghaulError } from '../../../core/ports/errors.ts';
import { bytes, plural } from '../../../wire/spans.ts';
import type { Column } from '../../output/columns.ts';
import { table } from '../../output/columns.ts';
import { progressBar } from '../../output/progress.ts';
import { print, printJson, printNotice, screenOf } from '../../output/screen.ts';
import type { Args } from '../../table/args.ts';
import type { FileInfo } from '../../target/files.ts';
import { findJob } from '../../target/job-ids.ts';
import type { Target } from '../../target/open-target.ts';
import { withTarget } from '../../target/open-target.ts';
import { sendFiles } from './send-files.ts';

export async function attach(args: Args): Promise<number> {
  const [given, ...paths] = args.positionals;
  if (given === undefined) throw args.usageError('ID is missing');
  if (args.text('get') !== undefined && paths.length > 0) throw args.usageError('--get cannot be combined with FILE');
  if (args.text('output') !== undefined && args.text('get') === undefined) throw args.usageError('-o requires --get');
  return withTarget(args, async (target) => {
    const { id, state } = await findJob(target, given);
    if (args.text('get') !== undefined) return download(args, target, id);
    if (paths.length === 0 && !args.flag('commit')) return list(args, target, id);
    if (state !== 'draft')
      throw new LonghaulError('refused', `job ${id} is ${state}: only a draft accepts files (longhaul add --draft)`);
    return upload(args, target, { id, paths });
  });
}

async function upload(
  args: Args,
  target: Target,
  { id, paths }: { id: string; paths: readonly string[] },
): Promise<number> {
  const sent = await sendFiles(target, id, paths);
  if (args.flag('commit')) {
    const answer = await target.longhaul.commit(id);
    if (!answer.ok) throw new LonghaulError('refused', answer.refusal.message);
  }
  if (args.flag('json')) printJson(sent);
  else if (sent.length > 0)
    print(`attached ${plural(sent.length, 'file')} to job ${id}: ${sent.map(({ name }) => name).join(', ')}`);
  return 0;
}

async function download(args: Args, target: Target, id: string): Promise<number> {
  const name = args.text('get') ?? '';
  const files = await target.files.list(id);
  const named = files.filter((each) => each.name === name);
  // If an input and an output have the same name, the output wins, as in the HTTP API.
  const file = named.find(({ direction }) => direction === 'out') ?? named[0];
  if (file === undefined) {
    const near = didYouMean(
      name,
      files.map((each) => each.name),
    );
    throw new LonghaulError('refused', `job ${id} has no file ${name}${near}`);
  }
  const path = args.text('output') ?? basename(name);
  if (args.text('output') === undefined && existsSync(path))
    throw new LonghaulError('refused', `${path} exists already: choose another file with -o`);
  const progress = progressBar(name);
  await target.files.get(id, file, { path, onBytes: progress.onBytes }).finally(() => progress.clear());
  if (args.flag('json')) printJson({ ...file, path });
  else print(`${path}: ${bytes(file.size)}`);
  return 0;
}

async function list(args: Args, target: Target, id: string): Promise<number> {
  const files = await target.files.list(id);
  if (args.flag('json')) printJson(files);
  else if (files.length === 0) printNotice(`job ${id} has no files`);
  else for (const line of table(COLUMNS, files, screenOf())) print(line);
  return 0;
}

const COLUMNS: readonly Column<FileInfo>[] = [
  { title: 'NAME', isWhole: true, of: ({ name }) => name },
  { title: 'SIZE', isWhole: true, of: ({ size }) => bytes(size) },
  { title: 'KIND', isWhole: true, of: ({ direction }) => (direction === 'in' ? 'input' : 'output') },
  { title: 'SHA-256', of: ({ sha256 }) => sha256 },
];
