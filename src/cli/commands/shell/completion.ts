/**
 * `longhaul completion`: scripts for bash and zsh, made from the table. What only the store knows (queues, ids) they ask
 * for by `longhaul completion words KIND`, which prints a word a line and never complains.
 */

import { print } from '../../output/screen.ts';
import type { Call } from '../../table/call.ts';
import { knownQueues } from '../../target/known-names.ts';
import { withTarget } from '../../target/open-target.ts';
import { bashCompletion } from './completion-bash.ts';
import { zshCompletion } from './completion-zsh.ts';

const MOST_IDS = 200;

export async function completion(call: Call): Promise<number> {
  const [shell, kind, ...more] = call.positionals;
  if (shell === 'words' && more.length === 0) return printWords(call, kind);
  if ((shell !== 'bash' && shell !== 'zsh') || kind !== undefined) throw call.wrong('the shell is bash or zsh');
  print(shell === 'bash' ? bashCompletion() : zshCompletion());
  return 0;
}

/** In the middle of a command line nobody wants to read an error: no words is an answer. */
async function printWords(call: Call, kind: string | undefined): Promise<number> {
  const words = await withTarget(call, async (target) => {
    if (kind === 'queue') return knownQueues(target);
    const { jobs } = await target.longhaul.list({ limit: MOST_IDS });
    return jobs.map(({ id }) => id);
  }).catch(() => []);
  for (const word of words) print(word);
  return 0;
}
