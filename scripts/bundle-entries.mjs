/**
 * Bundles the entry files of threads and programs that start often, and the exports of the package. Loading hundreds of
 * small files took half of the time to open an embedded store, and a third of the time of a command.
 *
 * No module exists twice in one thread: only files that no other file imports are replaced by a bundle, and the exports
 * are bundled together into a directory of their own.
 */
import { rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { UserError } from './script-support.mjs';

/** Threads and processes: one bundle each. */
const entries = [
  'stores/sqlite/engine/engine-thread',
  'worker/lease/lease-renewer-thread',
  'worker/lease/renewer-in-store-thread',
  'runner/process/runner-process',
  'library/isolation/handler-process',
  'library/isolation/handler-thread',
  // Loaded by the lease renewer thread.
  'stores/redis/open-store',
  'stores/http/open-store',
];
/** What users start: the command line programs. */
const programs = ['cli/main', 'cli/rq-main'];
/** What users import: the exports of the package. They and their chunks are published, not the files of which they consist. */
const folder = 'package';
const exported = {
  index: 'library/index',
  handler: 'library/handler',
  testing: 'testing/index',
  web: 'mount/create-handler',
  redis: 'stores/redis/index',
  worqr: 'compat/worqr/index',
  blueque: 'compat/blueque/index',
  qless: 'compat/qless/index',
};
/** The parts of the library that a program loads at its import, and later on demand, in the order of their use. */
const libraryParts = [
  'library/index',
  'stores/sqlite/open-sqlite-store',
  'library/files/directory-place',
  'library/isolation/open-isolation',
  'stores/http/open-http-store',
  'library/files/node-place',
  'stores/redis/index',
  'stores/memory/open-memory-store',
];
/** A process that uses the whole library. */
const process = 'compat/blueque/forked-task-process';

/** Doc comments are in the sources; the bundles need only what a minifier reads. */
const comments = { jsdoc: false, annotation: true, legal: false };

/** Replaces the entry files that the compiler wrote to `target`. */
export async function bundleEntries(source, target) {
  for (const entry of entries) await bundleEntry({ source, target, entry });
  rmSync(join(target, 'cli'), { recursive: true, force: true });
  await bundlePackage(source, target);
}

async function bundleEntry({ source, target, entry }) {
  const input = join(source, `${entry}.ts`);
  const bundle = await openBundle({ input, plugins: [keepModuleUrls(dirname(input))] });
  await bundle.write({ file: join(target, `${entry}.js`), format: 'esm', sourcemap: true, comments });
  await bundle.close();
}

/** Programs and exports share their chunks. Each command and each kind of store is loaded on demand. */
async function bundlePackage(source, target) {
  const path = (name) => join(source, `${name}.ts`);
  const inputs = [
    ...[...programs, process].map((name) => [name, path(name)]),
    ...Object.entries(exported).map(([name, of]) => [`${folder}/${name}`, path(of)]),
  ];
  const [first, client] = [new Set(), new Set()];
  const parts = libraryParts.map((name) => ({ name: name.split('/').at(-1), path: path(name), modules: new Set() }));
  const plugins = [
    keepModuleUrls(join(source, folder)),
    collectImports(path('cli/main'), first),
    collectImports(path('cli/target/local-files'), client),
    ...parts.map((part) => collectImports(part.path, part.modules)),
  ];
  const bundle = await openBundle({ input: Object.fromEntries(inputs), plugins });
  const { output } = await bundle.write({
    dir: target,
    format: 'esm',
    sourcemap: true,
    comments,
    entryFileNames: '[name].js',
    chunkFileNames: `${folder}/[name]-[hash].js`,
    codeSplitting: { includeDependenciesRecursively: false, groups: groupsOf(source, { first, parts, client }) },
  });
  await bundle.close();
  refuseCycles(output);
}

/**
 * Groups modules so that no chunk imports itself: a set that contains all of its own imports, or a layer. A program that
 * imports the library never loads modules of the command line or of the node.
 */
function groupsOf(source, { first, parts, client }) {
  const under = (...folders) => {
    const paths = folders.map((each) => `${join(source, each)}/`);
    return (id) => paths.some((path) => id.startsWith(path));
  };
  return [
    { name: 'base', test: (id) => first.has(id) && parts.some(({ modules }) => modules.has(id)) },
    { name: 'first', test: (id) => first.has(id) },
    ...parts.map(({ name, modules }) => ({ name, test: (id) => modules.has(id) })),
    { name: 'core', test: under('core', 'wire') },
    { name: 'redis', test: under('stores/redis') },
    { name: 'client', test: (id) => client.has(id) },
    { name: 'node', test: under('worker', 'outbound', 'files', 'runner', 'schedules', 'node') },
    { name: 'server', test: under('server', 'compat/rq') },
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
  const isProgram = (name) => programs.some((each) => name === `${each}.js`);
  const found = [...importsOf].find(([, imports]) => imports.some(isProgram));
  if (found) throw new UserError(`Chunk ${found[0]} imports the program that loads it.`);
}

async function openBundle(options) {
  // Imported dynamically: on a fresh clone this script is loaded before any package is installed.
  const { rolldown } = await import('rolldown');
  // The package does without the comments that name the module of each part: the source maps do, where they are kept.
  const experimental = { attachDebugInfo: 'none' };
  return rolldown({ platform: 'node', external: /^[^./]/, logLevel: 'silent', experimental, ...options });
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
