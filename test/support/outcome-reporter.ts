/**
 * A vitest reporter: writes every retried test to the file that LONGHAUL_OUTCOME names, as `{ retries: [{ file, title,
 * retries, error }] }`. `npm test` prints them and fails when there are too many.
 */
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

interface RetriedTest {
  readonly file: string;
  readonly title: string;
  readonly retries: number;
  /** The message of the first try. */
  readonly error: string;
}

class OutcomeReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const path = process.env['LONGHAUL_OUTCOME'];
    if (path === undefined) return;
    writeFileSync(path, JSON.stringify({ retries: modules.flatMap(retriedTests) }));
  }
}

function retriedTests(module: TestModule): RetriedTest[] {
  const file = relative(process.cwd(), module.moduleId);
  return [...module.children.allTests()]
    .map((test) => ({
      file,
      title: test.fullName,
      retries: test.diagnostic()?.retryCount ?? 0,
      error: test.result().errors?.[0]?.message ?? '',
    }))
    .filter(({ retries }) => retries > 0);
}

// vitest loads a reporter by its default export.
export default OutcomeReporter;
