/**
 * Makes a fresh clone ready: checks Node, installs what package-lock.json names, builds dist/.
 * Each part is skipped when it is done already, so this can be run before everything else.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './build.mjs';
import { main, root, run, say, seconds, Trouble } from './script-support.mjs';

const floor = [20, 19];

export async function setUp({ allowTypeErrors = false } = {}) {
  checkNode();
  await install();
  const startedAt = Date.now();
  const { built, errors } = await build();
  if (errors && !allowTypeErrors) throw new Trouble('The build has type errors (above).', { output: errors });
  if (built) say(`Built dist/ in ${seconds(Date.now() - startedAt)}${errors ? ', with type errors' : ''}.`);
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > floor[0] || (major === floor[0] && minor >= floor[1])) return;
  throw new Trouble(
    `Longhaul needs Node ${floor.join('.')} or newer; this is Node ${process.versions.node}. Install a newer Node and run this again.`,
    { exitCode: 2 },
  );
}

async function install() {
  if (isInstalled()) return;
  const startedAt = Date.now();
  say('Installing the packages that package-lock.json names …');
  // No dependency needs its install script: the one native package ships its binary.
  const { code, output } = await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund']);
  if (code !== 0) {
    throw new Trouble('`npm ci` failed (above). Check that the npm registry can be reached, then run this again.', {
      output: output.trimEnd().split('\n').slice(0, 20).join('\n'),
    });
  }
  say(`Installed in ${seconds(Date.now() - startedAt)}.`);
}

/** npm keeps a record of what it installed; it must hold the same versions as package-lock.json. */
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
  say('Ready.');
});
