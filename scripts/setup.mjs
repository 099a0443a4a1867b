/**
 * Prepares a fresh clone: checks Node.js, installs the packages of package-lock.json, builds dist/.
 * Each step is skipped if it is already done, so every script runs this first.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './build.mjs';
import { main, print, root, run, seconds, UserError } from './script-support.mjs';

const minimum = [20, 19];

export async function setUp({ allowTypeErrors = false } = {}) {
  checkNode();
  await install();
  const startedAt = Date.now();
  const { built, errors } = await build();
  if (errors && !allowTypeErrors) throw new UserError('The build has type errors (see above).', { output: errors });
  if (built) print(`Built dist/ in ${seconds(Date.now() - startedAt)}${errors ? ', with type errors' : ''}.`);
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > minimum[0] || (major === minimum[0] && minor >= minimum[1])) return;
  throw new UserError(
    `Longhaul needs Node ${minimum.join('.')} or newer; this is Node ${process.versions.node}. Install a newer Node and run this again.`,
    { exitCode: 2 },
  );
}

async function install() {
  if (isInstalled()) return;
  const startedAt = Date.now();
  print('Installing the packages of package-lock.json …');
  // No dependency needs its install script: the one native package ships its binary.
  const { code, output } = await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund']);
  if (code !== 0) {
    throw new UserError(
      '`npm ci` failed (see above). Check that the npm registry can be reached, then run this again.',
      {
        output: output.trimEnd().split('\n').slice(0, 20).join('\n'),
      },
    );
  }
  print(`Installed in ${seconds(Date.now() - startedAt)}.`);
}

/** Compares npm's record of installed packages with the versions of package-lock.json. */
function isInstalled() {
  const record = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(record)) return false;
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const installed = JSON.parse(readFileSync(record, 'utf8')).packages;
  return Object.entries(wanted).every(([path, { version, optional }]) => {
    if (path === '') return true;
    const found = installed[path];
    return found ? found.version === version : Boolean(optional);
  });
}

await main(import.meta.url, async () => {
  await setUp();
  print('Ready.');
});
