/** A real browser for scripts that look at the page: Chromium, as the tests use it. */

import { onPath } from './packages.mjs';
import { Trouble } from './script-support.mjs';

/** The first is the same browser without windows: it draws the same with half the work. */
export const BROWSERS = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];
const QUIET = ['--no-sandbox', '--disable-background-networking', '--disable-component-update', '--no-first-run'];

export async function launchBrowser() {
  const executablePath = BROWSERS.map(onPath).find(Boolean);
  if (executablePath === undefined)
    throw new Trouble(`None of ${BROWSERS.join(', ')} is on PATH: the page cannot be looked at.`, { exitCode: 2 });
  const { chromium } = await import('playwright-core');
  return chromium.launch({ executablePath, args: QUIET });
}
