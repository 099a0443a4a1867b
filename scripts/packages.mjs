/** Finds programs on PATH and installs Debian packages. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { run } from './script-support.mjs';

export const isRoot = () => process.getuid?.() === 0;

export function onPath(name) {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  return folders.map((each) => join(each, name)).find(isExecutable);
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Returns undefined, or the error message. */
export async function installPackages(names) {
  const env = { DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  return (
    (await tryRun('apt-get', ['update', '-qq'], { env })) ??
    (await tryRun('apt-get', ['install', '-qq', '-y', '--no-install-recommends', ...names], { env }))
  );
}

/** Runs a program; returns undefined, or the last line of its output if it failed. */
export async function tryRun(command, args, options) {
  const { code, output } = await run(command, args, options);
  return code === 0 ? undefined : (output.trim().split('\n').at(-1) ?? `${command} failed`);
}
