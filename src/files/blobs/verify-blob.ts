/** Verifies that the content of a blob still matches its hash. */
import { errnoOf } from './file-errors.ts';
import type { Layout } from './layout.ts';
import { openBlob } from './open-blob.ts';
import { hashFile } from './scan-file.ts';

export type Verdict = 'intact' | 'damaged' | 'missing';

export async function verifyBlob(layout: Layout, sha256: string): Promise<Verdict> {
  const handle = await openBlob(layout, sha256);
  if (handle === null) return 'missing';
  try {
    return (await hashFile(handle, 'sha256')).digest('hex') === sha256 ? 'intact' : 'damaged';
  } catch (error) {
    // An unreadable sector is damage too.
    if (errnoOf(error) === 'EIO') return 'damaged';
    throw error;
  } finally {
    await handle.close();
  }
}
