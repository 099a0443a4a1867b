/** The HTTP benchmark at a small size: work continues beside a thousand idle connections. */
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { spawnGuarded } from '../support/guarded-process.ts';

interface Figures {
  readonly crowd: { readonly open: number; readonly slow: number };
  readonly adds: { readonly count: number; readonly errors: number; readonly first: string | null };
  readonly rssMB: { readonly most: number };
}

const CONNECTIONS = 1_000;
const SECONDS = 4;

it(`S34 ${CONNECTIONS} idle, listening and slow connections cost no add an error`, async () => {
  const program = join(import.meta.dirname, '..', '..', 'bench', 'http.mjs');
  const words = ['--json', '--quick', '--connections', String(CONNECTIONS), '--seconds', String(SECONDS)];
  const bench = await spawnGuarded(process.execPath, [program, ...words]);
  const [said, complaints, { code }] = await Promise.all([text(bench.stdout), text(bench.stderr), bench.ended]);
  expect([code, code === 0 ? '' : complaints]).toEqual([0, '']);
  const { crowd, adds, rssMB } = JSON.parse(said) as Figures;
  expect(crowd.open).toBeGreaterThan(CONNECTIONS * 0.9);
  expect(adds).toMatchObject({ count: 200 * SECONDS, errors: 0, first: null });
  expect(rssMB.most).toBeLessThan(300);
}, 180_000);
