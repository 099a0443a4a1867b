/**
 * docs/proofs.md: what the full runs showed, each suite with the day and the commit of its last green run at full size.
 *
 * `npm run test:all` records suite by suite, so a red one takes nothing away from the others. The page is made of docs/proofs.json.
 * A suite tells its figures in lines that begin with `figures:`.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { root } from './house.mjs';

const kept = join(root, 'docs', 'proofs.json');
const page = join(root, 'docs', 'proofs.md');

/** A suite that was green at full size, of which `output` is what it printed. */
export function recordSuite(suite, { tests, tookMs, output, redis }) {
  const figures = [...stripVTControlCharacters(output).matchAll(/^figures: (.*)$/gm)].map(([, line]) => line.trim());
  const proofs = read();
  proofs.suites[suite] = {
    ...now(),
    redis: redis?.version ?? null,
    tests,
    seconds: Math.round(tookMs / 1000),
    figures,
  };
  write(proofs);
}

/** Seeded bugs that were caught, [{ name, file, verdict }]; those that are no longer in `known` are forgotten. */
export function recordMutants(caught, known) {
  const proofs = read();
  for (const { name, file, verdict } of caught) proofs.mutants[name] = { ...now(), file, verdict };
  proofs.mutants = Object.fromEntries(Object.entries(proofs.mutants).filter(([name]) => known.has(name)));
  write(proofs);
}

const read = () => (existsSync(kept) ? JSON.parse(readFileSync(kept, 'utf8')) : { suites: {}, mutants: {} });

function write({ suites, mutants }) {
  const sorted = { suites: inOrder(suites), mutants: inOrder(mutants) };
  writeFileSync(kept, `${JSON.stringify(sorted, null, 2)}\n`);
  writeFileSync(page, pageOf(sorted));
}

const inOrder = (entries) => Object.fromEntries(Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1)));

function now() {
  const machine = `${cpus().length} cores, ${Math.round(totalmem() / 1024 ** 3)} GB`;
  return { date: new Date().toISOString().slice(0, 10), commit: commit(), node: process.versions.node, machine };
}

function commit() {
  const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  const isChanged = git('status', '--porcelain', '--untracked-files=no', '--', '.', ':!docs/proofs.*') !== '';
  return `${git('rev-parse', '--short', 'HEAD')}${isChanged ? ' with changes' : ''}`;
}

function pageOf({ suites, mutants }) {
  return [
    '# Proofs',
    '',
    'What the full runs (`npm run test:all`) showed: each suite with its last green run at full size. That run writes this page.',
    '',
    '## Suites',
    '',
    '| suite | tests | seconds | commit | when | on |',
    '| --- | --- | --- | --- | --- | --- |',
    ...Object.entries(suites).map(suiteRow),
    '',
    '## Figures',
    '',
    ...Object.entries(suites).flatMap(figuresOf),
    '## Seeded bugs',
    '',
    `${Object.keys(mutants).length} bugs were put in on purpose, one at a time, and each was caught:`,
    '',
    '| bug | where | caught by | commit |',
    '| --- | --- | --- | --- |',
    ...Object.entries(mutants).map(mutantRow),
    '',
  ].join('\n');
}

function suiteRow([suite, { tests, seconds, commit: at, date, node, redis, machine }]) {
  const on = `Node ${node}, ${redis === null ? 'no Redis' : `Redis ${redis}`}, ${machine}`;
  return `| ${suite} | ${tests} | ${seconds} | ${at} | ${date} | ${on} |`;
}

const figuresOf = ([suite, { figures }]) =>
  figures.length === 0 ? [] : [`### ${suite}`, '', ...figures.map((line) => `- ${line}`), ''];

const mutantRow = ([name, { file, verdict, commit: at }]) =>
  `| ${cell(name)} | ${cell(file)} | ${cell(verdict)} | ${at} |`;

const cell = (text) => text.replaceAll('|', '\\|');
