/**
 * What the tests of the page share: a real node on a home of its own, and a real browser that looks at it. Everything
 * that a page must never show is gathered while it is looked at: dialogs, breaches of its policy, errors of its scripts.
 */
import { request } from 'node:http';
import { join } from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, inject, onTestFinished } from 'vitest';
import { urlOf } from '../node/serve-bench.ts';
import { Bench, type Served } from '../processes/scripts-workbench.ts';

/** How long a page may take on a machine that does other things too. */
export const PATIENCE_MS = 40_000;

export interface Seen {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Dialogs, breaches of the policy and errors of scripts, as they came. */
  readonly troubles: string[];
}

export class PageBench {
  readonly bench: Bench;
  #browser: Browser | null = null;
  served!: Served;
  url = '';

  /** `home` makes the home; queues that `prepare` puts there are known from the start. */
  constructor({ home = () => new Bench(), prepare }: { home?: () => Bench; prepare?: (bench: Bench) => void } = {}) {
    this.bench = home();
    prepare?.(this.bench);
    beforeAll(async () => {
      this.#browser = await chromium.connect(browserEndpoint());
      await this.serve();
    });
    afterAll(() => this.#browser?.close());
  }

  /** On the port it had before, if it had one, as after a restart by hand. */
  async serve(): Promise<void> {
    const port = this.url === '' ? [] : ['--port', new URL(this.url).port];
    this.served = await this.bench.serve(port);
    this.url = await urlOf(this.served);
  }

  /** Gone with the test: a page that nobody looks at any more would go on drawing what its node does. */
  async open(path: string, options: BrowserContextOptions = {}): Promise<Seen> {
    if (this.#browser === null) throw new Error('the browser was not started');
    const context = await this.#browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
    onTestFinished(() => context.close());
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    const troubles: string[] = [];
    page.on('dialog', (dialog) => {
      troubles.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('pageerror', (error) => troubles.push(`error: ${error.message}`));
    page.on('console', (message) => {
      if (/content.security.policy/i.test(message.text())) troubles.push(`policy: ${message.text()}`);
    });
    await page.goto(new URL(path, this.url).href);
    return { page, context, troubles };
  }

  /** By the one-time link, as whoever started the node has it; of another node where one is named. */
  async openAsAdmin(
    options: BrowserContextOptions = {},
    { home, url } = { home: this.bench.home, url: this.url },
  ): Promise<Seen> {
    const { path } = await postOverSocket<{ path: string }>(home, '/api/login/link');
    const seen = await this.open(new URL(path, url).href, options);
    const { origin, pathname } = new URL(url);
    await seen.page.waitForURL((url) => url.origin === origin && url.pathname === pathname);
    return seen;
  }

  /** A new token of this role. */
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

function browserEndpoint(): string {
  const found = inject('browser');
  if (found === null) throw new Error('there is no Chromium on this machine');
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
