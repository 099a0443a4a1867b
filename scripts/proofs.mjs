/**
 * docs/proofs.md: what the last full run showed. Written by `npm run test:all` when all of it was green; a suite tells its
 * figures in lines that begin with `figures:`.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { root, say } from './house.mjs';

export function writeProofs({ outputs, results, redis }) {
  const text = outputs.map(stripVTControlCharacters).join('\n');
  const figures = [...text.matchAll(/^figures: (.*)$/gm)].map(([, line]) => `- ${line.trim()}`);
  const mutants = /^mutant +where +caught by\n[\s\S]*?\n\n/m.exec(text)?.[0].trimEnd() ?? 'not tried';
  const page = [
    '# Proofs',
    '',
    'What the last full run (`npm run test:all`) showed. This page is written by that run, and only when all of it is green.',
    '',
    `${new Date().toISOString().slice(0, 10)}, commit ${commit()}, Node ${process.versions.node}, ${redis ? `Redis ${redis.version}` : 'no Redis'}, ` +
      `${cpus().length} cores, ${Math.round(totalmem() / 1024 ** 3)} GB.`,
    '',
    '## Suites',
    '',
    '| suite | tests | seconds |',
    '| --- | --- | --- |',
    ...suites(results),
    '',
    '## Figures',
    '',
    ...figures,
    '',
    '## Seeded bugs',
    '',
    '```text',
    mutants,
    '```',
    '',
  ];
  writeFileSync(join(root, 'docs', 'proofs.md'), page.join('\n'));
  say('docs/proofs.md was written.');
}

function commit() {
  const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  const isChanged = git('status', '--porcelain', '--untracked-files=no') !== '';
  return `${git('rev-parse', '--short', 'HEAD')}${isChanged ? ' with changes' : ''}`;
}

function suites(results) {
  const files = JSON.parse(readFileSync(results, 'utf8')).testResults;
  const bySuite = new Map();
  for (const { name, assertionResults, startTime, endTime } of files) {
    const path = name.slice(root.length + 1);
    const suite = path.startsWith('src/') ? 'unit' : path.split('/').slice(0, 2).join('/');
    const known = bySuite.get(suite) ?? { tests: 0, ms: 0 };
    bySuite.set(suite, { tests: known.tests + assertionResults.length, ms: known.ms + (endTime - startTime) });
  }
  return [...bySuite]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([suite, { tests, ms }]) => `| ${suite} | ${tests} | ${Math.round(ms / 1000)} |`);
}
