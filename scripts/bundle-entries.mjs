/**
 * What is started often begins from a few files instead of hundreds of small ones: reading and linking those was half of
 * what it costs to open an embedded store, and a third of what a command costs.
 *
 * Only leaves are made so: nobody imports them, so no module of theirs can exist twice in one thread.
 */
import { rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { Trouble } from './script-support.mjs';

/** Threads and processes: one file each. */
const entries = [
  'stores/sqlite/engine/engine-thread',
  'worker/lease/lease-renewer-thread',
  'runner/process/runner-process',
];
/** The commands of people, in one folder, which share what they load. */
const programs = { folder: 'cli', names: ['main', 'rq-main'] };

/** Writes the entries over those that the compiler wrote into `target`. */
export async function bundleEntries(source, target) {
  for (const entry of entries) await bundleEntry({ source, target, entry });
  await bundlePrograms(source, target);
}

async function bundleEntry({ source, target, entry }) {
  const input = join(source, `${entry}.ts`);
  const bundle = await openBundle({ input, plugins: [fromTheirOwnPlaces(dirname(input))] });
  await bundle.write({ file: join(target, `${entry}.js`), format: 'esm', sourcemap: true });
  await bundle.close();
}

/** A command is loaded when it is asked for, and so is each kind of store; what many of them need stands together. */
async function bundlePrograms(source, target) {
  const [from, to] = [source, target].map((folder) => join(folder, programs.folder));
  const input = Object.fromEntries(programs.names.map((name) => [name, join(from, `${name}.ts`)]));
  const [first, client] = [new Set(), new Set()];
  const ofClients = ['library/index.ts', 'cli/target/local-files.ts'].map((name) =>
    noteNeeded(join(source, name), client),
  );
  const plugins = [fromTheirOwnPlaces(from), noteNeeded(input.main, first), ...ofClients];
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
  refuseCircles(output);
}

/** In layers, so that none of them waits for itself. A store that is not asked for is not loaded, nor is a node. */
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

/** What the program needs before it knows what is wanted; not the program itself, which nobody may wait for. */
function noteNeeded(program, needed) {
  return {
    name: 'longhaul:note-needed',
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
 * A part that needs itself on the way round would find half of it. And the programs wait for the command they load: one
 * that imported the program in turn would wait for ever.
 */
function refuseCircles(output) {
  const importsOf = new Map(output.map(({ fileName, imports = [] }) => [fileName, imports]));
  const follow = (name, way) => {
    if (way.includes(name)) throw new Trouble(`These parts need one another: ${[...way, name].join(', ')}.`);
    for (const next of importsOf.get(name) ?? []) follow(next, [...way, name]);
  };
  for (const name of importsOf.keys()) follow(name, []);
  const isProgram = (name) => programs.names.some((each) => name === `${each}.js`);
  const found = [...importsOf].find(([, imports]) => imports.some(isProgram));
  if (found) throw new Trouble(`${found[0]} would wait for a program that waits for it.`);
}

async function openBundle(options) {
  // Loaded when it is needed: on a fresh clone this script is read before any package is there.
  const { rolldown } = await import('rolldown');
  return rolldown({ platform: 'node', external: /^[^./]/, logLevel: 'silent', ...options });
}

/** A file that a module finds beside itself is looked for where the compiler put that module. */
function fromTheirOwnPlaces(folder) {
  return {
    name: 'longhaul:from-their-own-places',
    transform(code, id) {
      if (!id.endsWith('.ts') || !code.includes('import.meta.url')) return null;
      const place = relative(folder, id).replace(/\.ts$/, '.js');
      return { code: code.replaceAll('import.meta.url', `new URL('${place}', import.meta.url)`), map: null };
    },
  };
}
