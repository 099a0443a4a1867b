/** Returns when the script of an attempt last wrote output, from its log; null if no script of this node runs it. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Home } from '../home.ts';
import { attemptFolder } from '../home.ts';

export async function outputAt(home: Home, { id, attempt }: { id: string; attempt: number }): Promise<number | null> {
  const file = await stat(join(attemptFolder(home, id, attempt), 'log')).catch(() => null);
  return file === null ? null : file.mtimeMs;
}
