/** Libraries for LD_PRELOAD, compiled from test/fixtures/. They need Linux and a C compiler. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

export const hasCompiler = process.platform === 'linux' && spawnSync('sh', ['-c', 'cc --version']).status === 0;

/** Compiles `name.c` into a folder. Returns the path of the library. */
export const compileLibrary = (name: string, folder: string): string =>
  compile(name, join(folder, `${name}.so`), ['-shared', '-fPIC']);

/** Compiles `name.c` into a folder. Returns the path of the program. */
export const compileProgram = (name: string, folder: string): string => compile(name, join(folder, name), []);

function compile(name: string, output: string, flags: readonly string[]): string {
  const source = join(import.meta.dirname, `../fixtures/${name}.c`);
  const built = spawnSync('sh', ['-c', 'cc -O1 -o "$@" -ldl', 'sh', output, ...flags, source], { encoding: 'utf8' });
  if (built.status !== 0) throw new Error(`${name}.c cannot be compiled: ${built.stderr}`);
  return output;
}
