/**
 * Secret values of a queue's environment. They stand in the queue's file alone, never in the store; each attempt keeps
 * the ones it was given beside its log, where only the node can read them, so that they are blotted out of what it
 * printed even after they were changed.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export async function keepSecrets(folder: string, values: readonly string[]): Promise<void> {
  if (values.length > 0) await writeFile(join(folder, 'secrets.json'), JSON.stringify(values), { mode: 0o600 });
}

/** What must not be shown of this attempt's log. */
export async function secretsOfAttempt(folder: string): Promise<readonly string[]> {
  try {
    return JSON.parse(await readFile(join(folder, 'secrets.json'), 'utf8')) as string[];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
