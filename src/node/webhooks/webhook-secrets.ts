/**
 * The secrets that hooks are signed with: those of `hooks.secrets` in node.json by their names, and a `default` that the
 * node makes for itself where nobody named one, in a file of the home that only it can read.
 *
 * Invariant: a secret stands in these two files and nowhere else: in no job, record, log or answer.
 */
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NodeSettings } from '../node-settings.ts';
import { secretProblem } from './sign-webhook.ts';

export const DEFAULT_SECRET = 'default';
const FILE = 'hook-secret';
const BYTES = 32;

/** Empty: there is none of that name. */
export async function secretsOf(
  settings: Pick<NodeSettings, 'outbound'>,
  home: string,
  name = DEFAULT_SECRET,
): Promise<readonly string[]> {
  const named = settings.outbound.hooks.secrets.get(name);
  if (named !== undefined) return named;
  return name === DEFAULT_SECRET ? [await ownSecret(home)] : [];
}

/** Made when it is first needed. Whoever comes second finds the first one's. */
async function ownSecret(home: string): Promise<string> {
  const path = join(home, FILE);
  const fresh = `whsec_${randomBytes(BYTES).toString('base64')}`;
  try {
    await writeFile(path, `${fresh}\n`, { mode: 0o600, flag: 'wx' });
    return fresh;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const kept = (await readFile(path, 'utf8')).trim();
  const problem = secretProblem(kept);
  if (problem !== null) throw new Error(`the secret in ${path} ${problem}`);
  return kept;
}
