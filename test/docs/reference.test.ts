/** The references of docs/ are generated from the source: `npx vitest run --project docs reference -u` writes them. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { routesPage } from './pages/routes-page.ts';
import { settingsPage } from './pages/settings-page.ts';

const docs = join(import.meta.dirname, '../../docs');

it('docs/settings.md lists every setting with its meaning and default', async () => {
  await expect(settingsPage()).toMatchFileSnapshot(join(docs, 'settings.md'));
});

it('docs/http-reference.md lists every operation with its role', async () => {
  await expect(routesPage()).toMatchFileSnapshot(join(docs, 'http-reference.md'));
});
