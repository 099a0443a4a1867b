/** Libraries for LD_PRELOAD, compiled from test/fixtures/. They need Linux and a C compiler. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

export const hasCompiler = process.platform === 'linux' && spawnSync('sh', ['-c', 'cc --version']).status === 0;

/** Compiles `name.c` into a folder. Returns the path of the library. */
export function compileLibrary(name: string, folder: string): string {
  const library = join(folder, `${name}.so`);
  const source = join(import.meta.dirname, `../fixtures/${name}.c`);
  const built = spawnSync('sh', ['-c', 'cc -shared -fPIC -O1 -o "$0" "$1" -ldl', library, source], {
    encoding: 'utf8',
  });
  if (built.status !== 0) throw new Error(`${name}.c cannot be compiled: ${built.stderr}`);
  return library;
}
