/**
 * `longhaul completion`: completion scripts for bash and zsh, generated from the command table. For queues and job ids
 * the scripts call `longhaul completion words KIND`, which prints one candidate a line and never an error.
 */

import { print } from '../../output/screen.ts';
import type { Args } from '../../table/args.ts';
import { knownQueues } from '../../target/known-names.ts';
import { withTarget } from '../../target/open-target.ts';
import { bashCompletion } from './completion-bash.ts';
import { zshCompletion } from './completion-zsh.ts';

const MOST_IDS = 200;

export async function completion(args: Args): Promise<number> {
  const [shell, kind, ...more] = args.positionals;
  if (shell === 'words' && more.length === 0) return printCandidates(args, kind);
  if ((shell !== 'bash' && shell !== 'zsh') || kind !== undefined) throw args.usageError('SHELL must be bash or zsh');
  print(shell === 'bash' ? bashCompletion() : zshCompletion());
  return 0;
}

/** Prints nothing if the target cannot be read: an error message would garble the line that the user is typing. */
async function printCandidates(args: Args, kind: string | undefined): Promise<number> {
  const candidates = await withTarget(args, async (target) => {
    if (kind === 'queue') return knownQueues(target);
    const { jobs } = await target.longhaul.list({ limit: MOST_IDS });
    return jobs.map(({ id }) => id);
  }).catch(() => []);
  for (const candidate of candidates) print(candidate);
  return 0;
}
