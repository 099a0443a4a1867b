/**
 * The programs that tests use besides Node and Redis: languages for scripts, strace for faults, a browser for the page.
 *
 * As root what is missing is installed from Debian's packages. Otherwise the tests that need it do not run, which is said,
 * and in CI is an error.
 */
import { BROWSERS } from './browser.mjs';
import { installPackages, isRoot, onPath } from './packages.mjs';
import { main, say, seconds, Trouble } from './script-support.mjs';

const shell = 'chromium-headless-shell';

/** Program, and the package that has it. */
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
  [BROWSERS[0]]: shell,
  ip: 'iproute2',
};

/** Answers the names of the programs that are not to be had. */
export async function findPrograms() {
  const missing = () => Object.keys(wanted).filter((name) => !alikeOf(name).some(onPath));
  if (missing().length === 0) return [];
  await fetchThem(missing());
  const lacking = missing();
  if (lacking.length === 0) return [];
  const message = `Missing for some tests: ${lacking.join(', ')}. Install ${lacking.map((each) => wanted[each]).join(' ')}.`;
  if (process.env.CI === 'true') throw new Trouble(`${message} In CI every test must run.`);
  say(message);
  return lacking;
}

/** Any browser will do. */
const alikeOf = (name) => (BROWSERS.includes(name) ? BROWSERS : [name]);

async function fetchThem(names) {
  if (!isRoot() || !onPath('apt-get')) return;
  const startedAt = Date.now();
  const packages = names.map((name) => wanted[name]);
  say(`Installing ${packages.join(', ')} for the tests …`);
  // Not every distribution has the browser without windows, and one name that is unknown keeps all others from being installed.
  const problem =
    (await installPackages(packages)) &&
    (await installPackages(packages.map((each) => (each === shell ? 'chromium' : each))));
  say(problem ? `That did not work: ${problem}` : `Installed in ${seconds(Date.now() - startedAt)}.`);
}

await main(import.meta.url, async () => {
  const lacking = await findPrograms();
  if (lacking.length > 0) return 1;
  say('Every program is there.');
});
