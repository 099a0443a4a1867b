/** One browser for all files of this suite, because its start takes longer than most of them. It ends with the suite. */
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import type { TestProject } from 'vitest/node';

/** The first is the headless build, which needs half the CPU time. */
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
    /** The WebSocket endpoint of the browser; null if there is none. */
    browser: string | null;
  }
}

/** Starts the browser. Without one, the tests of this suite fail with a clear message. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const executablePath = BROWSERS.map((name) => `/usr/bin/${name}`).find((path) => existsSync(path));
  const server = executablePath === undefined ? null : await chromium.launchServer({ executablePath, args: QUIET });
  project.provide('browser', server?.wsEndpoint() ?? null);
  return async () => {
    await server?.close();
  };
}
