/** Starts a real browser for scripts that open the web UI: Chromium, as in the tests. */

import { onPath } from './packages.mjs';
import { UserError } from './script-support.mjs';

/** The first is Chromium without windows: it renders the same pages with half the work. */
export const BROWSERS = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];
const QUIET = ['--no-sandbox', '--disable-background-networking', '--disable-component-update', '--no-first-run'];

export async function launchBrowser() {
  const executablePath = BROWSERS.map(onPath).find(Boolean);
  if (executablePath === undefined)
    throw new UserError(`None of ${BROWSERS.join(', ')} is on PATH: install Chromium.`, { exitCode: 2 });
  const { chromium } = await import('playwright-core');
  return chromium.launch({ executablePath, args: QUIET });
}
