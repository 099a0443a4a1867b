/** Uploads files to a job, with a progress bar if the upload takes long. */
import { progressBar } from '../../output/progress.ts';
import type { FileInfo } from '../../target/files.ts';
import type { Target } from '../../target/open-target.ts';

export async function sendFiles(target: Target, id: string, paths: readonly string[]): Promise<readonly FileInfo[]> {
  const sent: FileInfo[] = [];
  for (const path of paths) {
    const progress = progressBar(path);
    try {
      sent.push(await target.files.put(id, path, progress.onBytes));
    } finally {
      progress.clear();
    }
  }
  return sent;
}
