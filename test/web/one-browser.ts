/** One browser for all files of this suite: starting it takes longer than most of them look at it. It ends with the suite. */
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import type { TestProject } from 'vitest/node';

const BROWSERS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const QUIET = [
  '--no-sandbox',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the browser listens; null where none could be started. */
    browser: string | null;
  }
}

/** A machine without a browser runs every other suite: the tests of this one say what is missing. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const executablePath = BROWSERS.find((path) => existsSync(path));
  const server = executablePath === undefined ? null : await chromium.launchServer({ executablePath, args: QUIET });
  project.provide('browser', server?.wsEndpoint() ?? null);
  return async () => {
    await server?.close();
  };
}
