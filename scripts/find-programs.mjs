/**
 * Finds the programs that tests need besides Node.js and Redis: script languages, strace for faults, a browser for the web UI.
 *
 * As root it installs missing programs from Debian packages. Otherwise it prints them, and their tests are skipped; in CI
 * that is an error.
 */
import { BROWSERS } from './browser.mjs';
import { installPackages, isRoot, onPath } from './packages.mjs';
import { main, print, seconds, UserError } from './script-support.mjs';

const headlessShell = 'chromium-headless-shell';

/** The programs with their Debian packages. */
const wanted = {
  bash: 'bash',
  perl: 'perl',
  python3: 'python3',
  ruby: 'ruby',
  cc: 'gcc',
  curl: 'curl',
  openssl: 'openssl',
  strace: 'strace',
  zsh: 'zsh',
  [BROWSERS[0]]: headlessShell,
  ip: 'iproute2',
};

/** Returns the names of the programs that are missing. */
export async function findPrograms() {
  const missing = () => Object.keys(wanted).filter((name) => !alternatives(name).some(onPath));
  if (missing().length === 0) return [];
  await installMissing(missing());
  const lacking = missing();
  if (lacking.length === 0) return [];
  const message = `Missing for some tests: ${lacking.join(', ')}. Install ${lacking.map((each) => wanted[each]).join(' ')}.`;
  if (process.env.CI === 'true') throw new UserError(`${message} In CI every test must run.`);
  print(message);
  return lacking;
}

/** Every browser of the list is sufficient. */
const alternatives = (name) => (BROWSERS.includes(name) ? BROWSERS : [name]);

async function installMissing(names) {
  if (!isRoot() || !onPath('apt-get')) return;
  const startedAt = Date.now();
  const packages = names.map((name) => wanted[name]);
  print(`Installing ${packages.join(', ')} for the tests …`);
  // Not every distribution has the headless shell, and apt installs nothing if one name is unknown.
  const problem =
    (await installPackages(packages)) &&
    (await installPackages(packages.map((each) => (each === headlessShell ? 'chromium' : each))));
  print(problem ? `The installation failed: ${problem}` : `Installed in ${seconds(Date.now() - startedAt)}.`);
}

await main(import.meta.url, async () => {
  const lacking = await findPrograms();
  if (lacking.length > 0) return 1;
  print('All programs are installed.');
});
