/** A record that waiting jobs of a source were copied, which --follow would add a second time. */
import { LonghaulError } from '../../../core/ports/errors.ts';
import type { Store } from '../../../core/ports/store.ts';

const IMPORT_RECORD = 'import';

export async function markImported({ records }: Store, system: string, url: string): Promise<void> {
  await records.put({ kind: IMPORT_RECORD, key: `${system} ${url}`, value: '{}' });
}

/** Throws `refused` if waiting jobs of this source were copied here before: following it would add them again. */
export async function refuseImported({ records }: Store, system: string, url: string): Promise<void> {
  if ((await records.get(IMPORT_RECORD, `${system} ${url}`)) === null) return;
  throw new LonghaulError(
    'refused',
    `waiting jobs of ${url} were imported here before, without --follow: they would be added a second time. Follow into an empty store, or delete the old keys first`,
  );
}
