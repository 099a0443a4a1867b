/**
 * A reporter of vitest's: leaves in the file that LONGHAUL_OUTCOME names which test files failed, and how many errors
 * belonged to no test. `npm test` reads it to try such files once more, alone.
 */
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

class OutcomeReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const path = process.env['LONGHAUL_OUTCOME'];
    if (path === undefined) return;
    const failed = modules.filter((module) => module.state() === 'failed');
    const files = failed.map(({ moduleId }) => relative(process.cwd(), moduleId));
    writeFileSync(path, JSON.stringify({ files, errors: errors.length }));
  }
}

// vitest loads a reporter by its default export.
export default OutcomeReporter;
