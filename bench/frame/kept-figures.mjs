/**
 * The kept figures (bench/figures.json): each part of the benchmark with its last run that was written. A run with
 * `--write` replaces the parts that it measured. The page is made of all of them.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { figuresOf } from './figures.mjs';

/** Keeps the parts of a run: `run` has its facts and notes. */
export function keepFigures(path, { figures, parts, run }) {
  const kept = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).parts : {};
  for (const part of parts) kept[part] = { run, figures: figures.ofPart(part) };
  writeFileSync(path, `${JSON.stringify({ parts: kept }, null, 2)}\n`);
}

/** Returns { parts, runs, figures, names }: what is kept, with one entry in `runs` for each run and the parts it has here. */
export function readFigures(path) {
  if (!existsSync(path)) throw new Error(`${path} is missing: there are no kept figures. Write them with --write.`);
  const { parts } = JSON.parse(readFileSync(path, 'utf8'));
  const byKey = Object.assign({}, ...Object.values(parts).map(({ figures }) => figures));
  const names = new Set(Object.keys(byKey).map((each) => each.split(' ')[0]));
  return { parts: new Set(Object.keys(parts)), runs: runsOf(parts), figures: figuresOf(byKey), names };
}

/** Newest first; a run of the same facts is the same run. */
function runsOf(parts) {
  const runs = new Map();
  for (const [part, { run }] of Object.entries(parts)) {
    const name = JSON.stringify(run);
    runs.set(name, { ...run, parts: [...(runs.get(name)?.parts ?? []), part] });
  }
  return [...runs.values()].toSorted((a, b) => b.facts.date.localeCompare(a.facts.date));
}
