/**
 * Finds a program of each supported version of Node for the full test run: LONGHAUL_TEST_NODES (paths, separated by
 * colons), else those of the npm registry, kept in a cache directory.
 */
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { cacheFolder, print, run } from './script-support.mjs';

const versions = [20, 22, 24];
const folder = join(cacheFolder, 'nodes');

/** Returns the paths; a version that cannot be downloaded is left out and reported. */
export async function findNodes() {
  const given = process.env.LONGHAUL_TEST_NODES;
  if (given) return given.split(delimiter).filter((path) => path !== '');
  const found = [];
  for (const version of versions) found.push(...(await nodeOf(version)));
  return found;
}

async function nodeOf(version) {
  const target = join(folder, String(version));
  const path = join(target, 'package', 'bin', 'node');
  if (existsSync(path) || (await download(version, target))) return [path];
  print(
    `Node ${version} could not be downloaded: its tests are skipped. Set LONGHAUL_TEST_NODES to paths of programs.`,
  );
  return [];
}

async function download(version, target) {
  mkdirSync(target, { recursive: true });
  const name = `node-${process.platform}-${process.arch}@${version}`;
  const packed = await run('npm', ['pack', name, '--pack-destination', target]);
  const file = readdirSync(target).find((each) => each.endsWith('.tgz'));
  if (packed.code !== 0 || file === undefined) return false;
  return (await run('tar', ['-xzf', join(target, file), '-C', target])).code === 0;
}
