/** A real browser for scripts that look at the page: Chromium, as the tests use it. */
import { Trouble } from './house.mjs';
import { onPath } from './packages.mjs';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];
const QUIET = ['--no-sandbox', '--disable-background-networking', '--disable-component-update', '--no-first-run'];

export async function launchBrowser() {
  const executablePath = NAMES.map(onPath).find(Boolean);
  if (executablePath === undefined)
    throw new Trouble(`None of ${NAMES.join(', ')} is on PATH: the page cannot be looked at.`, { exitCode: 2 });
  const { chromium } = await import('playwright-core');
  return chromium.launch({ executablePath, args: QUIET });
}
