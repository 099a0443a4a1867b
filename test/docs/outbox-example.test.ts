/** The example app of the outbox, run as its user would; over PostgreSQL at full size. And the SQL of docs/outbox.md. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { schemaStatements } from '../../src/library/outbox/outbox-schema.ts';
import { partIf } from '../support/it-if.ts';
import { describeWithPostgres, startPostgres } from '../support/postgres.ts';
import { isFullSize } from '../support/test-size.ts';

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);

async function runShop(database: string): Promise<string> {
  const cwd = mkdtempSync(join(tmpdir(), 'longhaul-shop-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  const shop = join(root, 'examples/outbox/shop.mjs');
  return (await run(process.execPath, [shop, database], { cwd, timeout: 60_000 })).stdout;
}

test('The shop over SQLite confirms the orders that were committed, and no other.', async () => {
  const lines = (await runShop('shop.db')).trim().split('\n');
  expect(lines.toSorted()).toEqual([
    'confirmed order 1 for Ada',
    'confirmed order 2 for Cleo',
    'no order for Bob: CHECK constraint failed: total > 0',
  ]);
});

partIf(isFullSize, describeWithPostgres)('PostgreSQL', () => {
  test('The shop over PostgreSQL confirms the orders that were committed, and no other.', async () => {
    const server = await startPostgres();
    onTestFinished(() => server.stop());
    const lines = (await runShop(server.url)).trim().split('\n');
    expect(lines.toSorted()).toEqual([
      'confirmed order 1 for Ada',
      'confirmed order 3 for Cleo',
      'no order for Bob: new row for relation "orders" violates check constraint "orders_total_check"',
    ]);
  });
});

test.each(['postgres', 'sqlite'] as const)('docs/outbox.md has the SQL that setup() runs on %s.', (dialect) => {
  const page = readFileSync(join(root, 'docs/outbox.md'), 'utf8');
  const [, sql] = new RegExp(`<!-- schema: ${dialect} -->\\n\`\`\`sql\\n([\\s\\S]*?)\`\`\``).exec(page) ?? [];
  expect(sql).toBe(`${schemaStatements(dialect, 'longhaul_outbox').join(';\n\n')};\n`);
});
