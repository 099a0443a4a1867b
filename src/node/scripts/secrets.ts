/**
 * Secret values of a queue's environment. They are in the queue's file only, never in the store. Each attempt keeps its
 * secrets beside its log, readable only by the node, so that they are masked in the log even after they change.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Adds to the secrets of the same attempt before it was suspended. */
export async function saveSecrets(folder: string, values: readonly string[]): Promise<void> {
  if (values.length === 0) return;
  const all = new Set([...(await secretsOfAttempt(folder)), ...values]);
  await writeFile(join(folder, 'secrets.json'), JSON.stringify([...all]), { mode: 0o600 });
}

/** Returns the values to mask in this attempt's log. */
export async function secretsOfAttempt(folder: string): Promise<readonly string[]> {
  try {
    return JSON.parse(await readFile(join(folder, 'secrets.json'), 'utf8')) as string[];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
