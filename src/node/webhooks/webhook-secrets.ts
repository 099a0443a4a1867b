/**
 * The secrets that sign webhooks: those of `hooks.secrets` in node.json by name, and a `default` that the node creates
 * in a file of the data directory when none is set.
 *
 * Invariant: a secret is in these two files only: never in a job, record, log or answer.
 */
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NodeSettings } from '../node-settings.ts';
import { secretProblem } from './sign-webhook.ts';

export const DEFAULT_SECRET = 'default';
const FILE = 'hook-secret';
const BYTES = 32;

/** Returns an empty list when the name is unknown. */
export async function secretsOf(
  settings: Pick<NodeSettings, 'outbound'>,
  home: string,
  name = DEFAULT_SECRET,
): Promise<readonly string[]> {
  const named = settings.outbound.hooks.secrets.get(name);
  if (named !== undefined) return named;
  return name === DEFAULT_SECRET ? [await ownSecret(home)] : [];
}

/** Creates the secret on first use. A concurrent creator finds the existing file. */
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
