/**
 * test/test-report.md: for each suite the last green run at full size, and how many mutants were caught.
 *
 * `npm run test:all` updates one row per suite, so a red suite changes no other row. The page is the only copy: rows are
 * read back from its table. The lines that a suite prints after `figures:` go to build/test-report/, which is not tracked.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { root } from './script-support.mjs';

const page = join(root, 'test', 'test-report.md');
const figuresFolder = join(root, 'build', 'test-report');
const heading = ['suite', 'tests', 'retries', 'seconds', 'commit', 'date', 'machine'];

/** Records a green run of a suite at full size. `output` is the output of the run. */
export function recordSuite(suite, { tests, retries, tookMs, output, redis }) {
  writeRow([suite, tests, retries, Math.round(tookMs / 1000), commit(), today(), machineOf(redis)]);
  const figures = [...stripVTControlCharacters(output).matchAll(/^figures: (.*)$/gm)].map(([, line]) => line.trim());
  mkdirSync(figuresFolder, { recursive: true });
  writeFileSync(join(figuresFolder, `${suite.replaceAll('/', '-')}.txt`), figures.map((line) => `${line}\n`).join(''));
}

/** Records a run of all mutants. */
export function recordMutants({ caught, all, tookMs, redis }) {
  const row = [`mutants: ${caught} of ${all} caught`, all, 0, Math.round(tookMs / 1000), commit(), today()];
  writeRow([...row, machineOf(redis)]);
}

function writeRow(cells) {
  const row = cells.map(String);
  const key = (name) => name.replace(/:.*/, '');
  const others = readRows().filter(([name]) => key(name) !== key(row[0]) && isKnown(name));
  const rows = [...others, row].sort(([a], [b]) => (a < b ? -1 : 1));
  const lines = [heading, heading.map(() => '---'), ...rows].map((each) => `| ${each.join(' | ')} |`);
  writeFileSync(page, `${introduction}\n${lines.join('\n')}\n`);
}

/** Whether the suite still exists. */
const isKnown = (name) => !name.startsWith('test/') || existsSync(join(root, name));

const introduction = `# Test report

The last green run of each suite at full size, written by \`npm run test:all\`. That run writes the figures of each suite
to \`build/test-report/\`.
`;

/** Cells of the table on the page, without its heading. */
function readRows() {
  if (!existsSync(page)) return [];
  const lines = readFileSync(page, 'utf8').split('\n');
  const rows = lines.filter((line) => line.startsWith('| ')).map((line) => line.slice(2, -2).split(' | '));
  return rows.filter((cells) => cells.length === heading.length && cells[0] !== heading[0] && cells[0] !== '---');
}

const today = () => new Date().toISOString().slice(0, 10);

function machineOf(redis) {
  const parts = [`Node ${process.versions.node}`, redis ? `Redis ${redis.version}` : 'no Redis'];
  return [...parts, `${cpus().length} cores`, `${Math.round(totalmem() / 1024 ** 3)} GB`].join(', ');
}

function commit() {
  const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  const isChanged = git('status', '--porcelain', '--untracked-files=no', '--', '.', ':!test/test-report.md') !== '';
  return `${git('rev-parse', '--short', 'HEAD')}${isChanged ? ' with changes' : ''}`;
}
