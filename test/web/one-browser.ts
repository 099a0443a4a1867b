/** One browser for all files of this suite: starting it takes longer than most of them look at it. It ends with the suite. */
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import type { TestProject } from 'vitest/node';

/** The first is the same browser without windows: it draws the same with half the work. */
const BROWSERS = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];
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
  const executablePath = BROWSERS.map((name) => `/usr/bin/${name}`).find((path) => existsSync(path));
  const server = executablePath === undefined ? null : await chromium.launchServer({ executablePath, args: QUIET });
  project.provide('browser', server?.wsEndpoint() ?? null);
  return async () => {
    await server?.close();
  };
}
