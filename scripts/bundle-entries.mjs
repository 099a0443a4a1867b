/**
 * Bundles the entry files of threads and programs that start often. Loading hundreds of small files took half of the time
 * to open an embedded store, and a third of the time of a command.
 *
 * Only files that no other file imports are bundled, so that no module exists twice in one thread.
 */
import { rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { UserError } from './script-support.mjs';

/** Threads and processes: one bundle each. */
const entries = [
  'stores/sqlite/engine/engine-thread',
  'worker/lease/lease-renewer-thread',
  'runner/process/runner-process',
  'library/isolation/handler-process',
  'library/isolation/handler-thread',
];
/** The command line programs: one directory of shared chunks. */
const programs = { folder: 'cli', names: ['main', 'rq-main'] };

/** Replaces the entry files that the compiler wrote to `target`. */
export async function bundleEntries(source, target) {
  for (const entry of entries) await bundleEntry({ source, target, entry });
  await bundlePrograms(source, target);
}

async function bundleEntry({ source, target, entry }) {
  const input = join(source, `${entry}.ts`);
  const bundle = await openBundle({ input, plugins: [keepModuleUrls(dirname(input))] });
  await bundle.write({ file: join(target, `${entry}.js`), format: 'esm', sourcemap: true });
  await bundle.close();
}

/** Each command and each kind of store is loaded on demand; shared modules are grouped in chunks. */
async function bundlePrograms(source, target) {
  const [from, to] = [source, target].map((folder) => join(folder, programs.folder));
  const input = Object.fromEntries(programs.names.map((name) => [name, join(from, `${name}.ts`)]));
  const [first, client] = [new Set(), new Set()];
  const clientPlugins = ['library/index.ts', 'cli/target/local-files.ts'].map((name) =>
    collectImports(join(source, name), client),
  );
  const plugins = [keepModuleUrls(from), collectImports(input.main, first), ...clientPlugins];
  const bundle = await openBundle({ input, plugins, preserveEntrySignatures: false });
  rmSync(to, { recursive: true, force: true });
  const { output } = await bundle.write({
    dir: to,
    format: 'esm',
    sourcemap: true,
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    codeSplitting: { includeDependenciesRecursively: false, groups: groupsOf(source, { first, client }) },
  });
  await bundle.close();
  refuseCycles(output);
}

/** Groups modules by layer, so that no chunk imports itself. Stores and the node load only when a command needs them. */
function groupsOf(source, { first, client }) {
  const under = (...folders) => {
    const paths = folders.map((folder) => `${join(source, folder)}/`);
    return (id) => paths.some((path) => id.startsWith(path));
  };
  return [
    { name: 'first', test: (id) => first.has(id) },
    { name: 'core', test: under('core', 'wire') },
    { name: 'redis', test: under('stores/redis') },
    { name: 'client', test: (id) => client.has(id) },
    { name: 'node', test: under('worker', 'outbound', 'files', 'runner', 'schedules', 'node') },
    { name: 'server', test: under('server', 'compat') },
  ];
}

/** Collects the static imports of a program, without the program itself: a chunk that imports it would deadlock. */
function collectImports(program, needed) {
  return {
    name: 'longhaul:collect-imports',
    buildEnd() {
      const follow = (id) => {
        for (const next of this.getModuleInfo(id)?.importedIds ?? []) {
          if (!next.endsWith('.ts') || needed.has(next)) continue;
          needed.add(next);
          follow(next);
        }
      };
      follow(program);
    },
  };
}

/**
 * Refuses import cycles: a chunk in a cycle would see a partly initialized chunk. A program awaits the command that it
 * loads, so a command that imports the program would deadlock.
 */
function refuseCycles(output) {
  const importsOf = new Map(output.map(({ fileName, imports = [] }) => [fileName, imports]));
  const follow = (name, path) => {
    if (path.includes(name)) throw new UserError(`Import cycle between chunks: ${[...path, name].join(' → ')}.`);
    for (const next of importsOf.get(name) ?? []) follow(next, [...path, name]);
  };
  for (const name of importsOf.keys()) follow(name, []);
  const isProgram = (name) => programs.names.some((each) => name === `${each}.js`);
  const found = [...importsOf].find(([, imports]) => imports.some(isProgram));
  if (found) throw new UserError(`Chunk ${found[0]} imports the program that loads it.`);
}

async function openBundle(options) {
  // Imported dynamically: on a fresh clone this script is loaded before any package is installed.
  const { rolldown } = await import('rolldown');
  return rolldown({ platform: 'node', external: /^[^./]/, logLevel: 'silent', ...options });
}

/** Rewrites import.meta.url, so that a module finds the files beside its compiled file and not beside the bundle. */
function keepModuleUrls(folder) {
  return {
    name: 'longhaul:keep-module-urls',
    transform(code, id) {
      if (!id.endsWith('.ts') || !code.includes('import.meta.url')) return null;
      const path = relative(folder, id).replace(/\.ts$/, '.js');
      return { code: code.replaceAll('import.meta.url', `new URL('${path}', import.meta.url)`), map: null };
    },
  };
}
