/**
 * The suites, by folder: `npx vitest run --project model` runs one of them.
 *
 * Suites with real processes run after the others. Files that measure time or memory run last, one after another.
 */
import { pathToFileURL } from 'node:url';
import { defineConfig, type Plugin } from 'vitest/config';

const root = import.meta.dirname;

/**
 * Source runs straight from src/ here, but a thread or a process needs JavaScript. So
 * `new URL('./x-thread.js', import.meta.url)` in a file of src/ becomes the address of the built file in dist/.
 */
function builtEntryFiles(): Plugin {
  const pattern = /new URL\(\s*(['"])(\.{1,2}\/[^'"]+\.js)\1\s*,\s*import\.meta\.url\s*,?\s*\)/g;
  const source = `${root}/src/`;
  return {
    name: 'longhaul:built-entry-files',
    enforce: 'pre',
    transform(code, id) {
      const path = id.split('?')[0] ?? id;
      if (!path.startsWith(source) || !code.includes('import.meta.url')) return null;
      const built = pathToFileURL(`${root}/dist/${path.slice(source.length)}`);
      const changed = code.replace(
        pattern,
        (_whole, _quote, name: string) => `new URL('${new URL(name, built).href}')`,
      );
      return changed === code ? null : { code: changed, map: null };
    },
  };
}

const suites = [
  'conventions',
  'support',
  'contract',
  'model',
  'library',
  'compat',
  'server',
  'docs',
  'cli',
  'processes',
  'node',
  'faults',
  'chaos',
  'fuzz',
  'relay',
  'web',
];
const lastSuites = new Set(['processes', 'node', 'faults', 'chaos', 'relay', 'files', 'promises', 'web']);

/** Measure time or memory, or must end in time: they run last, one after another, so that no other test takes their cores. */
const quietFiles = [
  'test/chaos/chaos.test.ts',
  'test/library/outbox-postgres.test.ts',
  'test/processes/runner-terminate.test.ts',
  'test/processes/scripts-stop.test.ts',
  'test/processes/blobs-memory.test.ts',
  'test/processes/handler-log-rate.test.ts',
  'test/processes/attach-memory.test.ts',
  'test/processes/working-memory.test.ts',
];

/** Headline promises beside the whole of test/faults: nothing lost, nothing twice, no secret shown. They are never retried. */
const promiseFiles = [
  'test/processes/attach-kill.test.ts',
  'test/processes/blobs-kill.test.ts',
  'test/processes/blobs-race.test.ts',
  'test/processes/many-jobs.test.ts',
  'test/processes/outbox-kill.test.ts',
  'test/processes/runner-restart.test.ts',
  'test/processes/same-id.test.ts',
  'test/processes/scripts-restart.test.ts',
  'test/relay/fault-table.test.ts',
  'test/relay/killed.test.ts',
  'test/server-files/logs.test.ts',
];

/** Each of their files has a process of its own: they start so many others that one of them might be left to the next file. */
const alone = new Set(['processes', 'node', 'faults', 'chaos', 'relay', 'files', 'cli', 'promises', 'quiet']);

/** Suites with real processes and real time. scripts/test.mjs prints and counts every retry; all other suites have none. */
const retriedSuites = new Set(['processes', 'node', 'relay', 'files', 'web']);

function groupOrder(name: string): number {
  if (name === 'quiet') return 2;
  return lastSuites.has(name) ? 1 : 0;
}

const project = (name: string, include: string[]) => ({
  plugins: [builtEntryFiles()],
  test: {
    name,
    include,
    exclude: name === 'quiet' || name === 'promises' ? [] : [...quietFiles, ...promiseFiles],
    ...(name === 'quiet' && { maxWorkers: 1 }),
    pool: 'forks' as const,
    setupFiles: [`${root}/test/support/end-with-vitest.ts`],
    // Limits for what hangs, and no measure of anything: they cost nothing where they are not reached.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000, interval: 50 } },
    sequence: { groupOrder: groupOrder(name) },
    retry: retriedSuites.has(name) ? 1 : 0,
    // They hold nothing in their modules: a process runs file after file, and loads what they share once.
    isolate: alone.has(name),
    ...(name === 'web' && { globalSetup: [`${root}/test/web/shared-browser.ts`] }),
  },
});

export default defineConfig({
  test: {
    root,
    globalSetup: ['./test/support/own-folder.ts', './test/support/built.ts'],
    // More than cores: many tests wait for time to pass, or for processes of their own.
    maxWorkers: 6,
    // What one suite has had transformed need not be transformed again for the next.
    experimental: { fsModuleCache: true, fsModuleCachePath: './node_modules/.cache/vitest-modules' },
    projects: [
      project('unit', ['src/**/*.test.ts', 'web/src/**/*.test.ts']),
      project('guard', ['test/server-guard/**/*.test.ts']),
      project('files', ['test/server-files/**/*.test.ts']),
      ...suites.map((name) => project(name, [`test/${name}/**/*.test.ts`])),
      project('promises', promiseFiles),
      project('quiet', quietFiles),
    ],
  },
});
