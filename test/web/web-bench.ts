/**
 * The fixture of the browser tests: a real node with a data directory of its own, and a real browser. It collects
 * what a page must never show: dialogs, violations of the content security policy, script errors.
 */
import { request } from 'node:http';
import { join } from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, inject, onTestFinished } from 'vitest';
import { urlOf } from '../node/serve-bench.ts';
import { Bench, type Served } from '../processes/scripts-workbench.ts';

/** Timeout of page operations, generous for a busy machine. */
export const PAGE_TIMEOUT_MS = 40_000;

export interface OpenedPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Dialogs, policy violations and script errors, in order. */
  readonly pageErrors: string[];
}

export class WebBench {
  readonly bench: Bench;
  #browser: Browser | null = null;
  served!: Served;
  url = '';

  /** `home` creates the data directory; `prepare` adds queues before the node starts. */
  constructor({ home = () => new Bench(), prepare }: { home?: () => Bench; prepare?: (bench: Bench) => void } = {}) {
    this.bench = home();
    prepare?.(this.bench);
    beforeAll(async () => {
      this.#browser = await chromium.connect(browserEndpoint());
      await this.serve();
    });
    afterAll(() => this.#browser?.close());
  }

  /** Starts the node; a restart uses the same port. */
  async serve(): Promise<void> {
    const port = this.url === '' ? [] : ['--port', new URL(this.url).port];
    this.served = await this.bench.serve(port);
    this.url = await urlOf(this.served);
  }

  /** Opens a page; it is closed with the test, so that it does not keep polling. */
  async open(path: string, options: BrowserContextOptions = {}): Promise<OpenedPage> {
    if (this.#browser === null) throw new Error('the browser was not started');
    const context = await this.#browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
    onTestFinished(() => context.close());
    context.setDefaultTimeout(PAGE_TIMEOUT_MS);
    const page = await context.newPage();
    const pageErrors: string[] = [];
    page.on('dialog', (dialog) => {
      pageErrors.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('pageerror', (error) => pageErrors.push(`error: ${error.message}`));
    page.on('console', (message) => {
      if (/content.security.policy/i.test(message.text())) pageErrors.push(`policy: ${message.text()}`);
    });
    await page.goto(new URL(path, this.url).href);
    return { page, context, pageErrors };
  }

  /** Opens the web UI as admin with a one-time login link, of this node or the given one. */
  async openAsAdmin(
    options: BrowserContextOptions = {},
    { home, url } = { home: this.bench.home, url: this.url },
  ): Promise<OpenedPage> {
    const { path } = await postOverSocket<{ path: string }>(home, '/api/login/link');
    const seen = await this.open(new URL(path, url).href, options);
    const { origin, pathname } = new URL(url);
    await seen.page.waitForURL((url) => url.origin === origin && url.pathname === pathname);
    return seen;
  }

  /** Creates a token with this role. */
  async token(role: string): Promise<string> {
    const body = { name: `for a test as ${role}`, role };
    return (await postOverSocket<{ token: string }>(this.bench.home, '/api/tokens', body)).token;
  }

  async post<T>(path: string, body: unknown): Promise<T> {
    const response = await fetch(new URL(path, this.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as T;
  }
}

/** Logs in with a token. `home` is the address of the web UI. */
export async function logIn(page: Page, token: string, home: string): Promise<void> {
  await page.goto(new URL('login', home).href);
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.waitForURL(home);
}

export function browserEndpoint(): string {
  const found = inject('browser');
  if (found === null) throw new Error('no Chromium found on this machine');
  return found;
}

function postOverSocket<T>(home: string, path: string, body?: object): Promise<T> {
  return new Promise((resolve, reject) => {
    const headers = { host: 'localhost', ...(body && { 'content-type': 'application/json' }) };
    const options = { socketPath: join(home, 'node.sock'), path, method: 'POST', headers };
    const asked = request(options, (response) => {
      let text = '';
      response.on('data', (piece: Buffer) => (text += piece.toString()));
      response.on('end', () => resolve(JSON.parse(text) as T));
    });
    asked.on('error', reject);
    asked.end(body && JSON.stringify(body));
  });
}
