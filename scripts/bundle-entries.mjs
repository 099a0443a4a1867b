/**
 * Threads and processes that are started often begin from one file each instead of a hundred small ones: reading and linking
 * those was half of what it costs to open an embedded store.
 *
 * Only leaves are made so: nobody imports them, so no module of theirs can exist twice in one thread.
 */
import { dirname, join } from 'node:path';
import { Trouble } from './house.mjs';

const entries = ['stores/sqlite/engine-thread', 'worker/keeper-thread', 'runner/runner-process'];

/** Writes the entries over those that the compiler wrote into `target`. */
export async function bundleEntries(source, target) {
  for (const entry of entries) await bundleEntry({ source, target, entry });
}

async function bundleEntry({ source, target, entry }) {
  // Loaded when it is needed: on a fresh clone this script is read before any package is there.
  const { rolldown } = await import('rolldown');
  const input = join(source, `${entry}.ts`);
  const bundle = await rolldown({
    input,
    platform: 'node',
    external: /^[^./]/,
    plugins: [onlyNeighbours(dirname(input))],
  });
  await bundle.write({ file: join(target, `${entry}.js`), format: 'esm', sourcemap: true });
  await bundle.close();
}

/** A file that a module finds beside itself is looked for beside the bundle, so the two must be in one folder. */
function onlyNeighbours(folder) {
  return {
    name: 'longhaul:only-neighbours',
    transform(code, id) {
      if (!id.endsWith('.ts') || !code.includes('import.meta.url') || dirname(id) === folder) return null;
      throw new Trouble(`${id} looks for files beside itself, and would be bundled into ${folder}.`);
    },
  };
}
