/**
 * In which order the test files begin: the longest first, so that none of them runs alone at the end, and so that the
 * ones which wait (for a lease, a page, a killed process) do it while others compute. Those that take a few seconds
 * come last, suite by suite, since a process goes on with the next file of its suite.
 *
 * `file-seconds.json` says how long a file took on two cores; one that is not in it is a short one.
 */
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { TestSequencer, TestSpecification } from 'vitest/node';

const root = join(import.meta.dirname, '..', '..');
const measured = JSON.parse(readFileSync(join(import.meta.dirname, 'file-seconds.json'), 'utf8')) as Readonly<
  Record<string, number>
>;

type Placed = Pick<TestSpecification, 'moduleId'> & { readonly project: { readonly name: string } };

export function longestFirst<T extends Placed>(files: readonly T[], seconds = measured): T[] {
  const secondsOf = ({ moduleId }: T): number => seconds[relative(root, moduleId)] ?? 0;
  const suites = [...new Set(files.map(({ project }) => project.name))];
  const suiteOf = ({ project }: T): number => suites.indexOf(project.name);
  return [...files].sort((a, b) => secondsOf(b) - secondsOf(a) || suiteOf(a) - suiteOf(b));
}

export class LongestFirst implements TestSequencer {
  /** Nobody splits the suites over machines. */
  shard(files: TestSpecification[]): TestSpecification[] {
    return files;
  }

  sort(files: TestSpecification[]): TestSpecification[] {
    return longestFirst(files);
  }
}
