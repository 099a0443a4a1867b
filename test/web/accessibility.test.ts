/** Every page is accessible and fits, in both themes and at both widths; the first load is small. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { testSize } from '../support/test-size.ts';
import type { Evaluator } from './axe-check.ts';
import { seriousViolations } from './axe-check.ts';
import { WebBench } from './web-bench.ts';

const LONG = 150_000;
const built = join(import.meta.dirname, '../../dist/web');
const KILOBYTE = 1024;
const MAX_KILOBYTES = 120;
const PHONE = 390;
const DESK = 1440;

interface Variant {
  readonly colorScheme: 'light' | 'dark';
  readonly width: number;
}

const VARIANTS: readonly Variant[] = [
  { colorScheme: 'light', width: PHONE },
  { colorScheme: 'dark', width: DESK },
  { colorScheme: 'light', width: DESK },
  { colorScheme: 'dark', width: PHONE },
];
/** At the small size each page is tested in one variant. */
const isTested = (page: number, variant: number): boolean =>
  testSize({ small: page % VARIANTS.length === variant, full: true });

describe('every page', () => {
  const web = new WebBench({
    prepare: (bench) => {
      bench.queue(
        'lively',
        'echo "\u001b[32mgreen\u001b[0m and \u001b[33myellow"; echo "progress 40 well" >&3; sleep 300',
        { concurrency: 9 },
      );
      bench.queue('broken', 'echo "some error"; exit 3');
    },
  });

  it('has no serious axe violation and no horizontal scrolling, in both themes and at both widths', {
    timeout: LONG,
  }, async () => {
    const running = await web.bench.add('lively', { a: 1 }, { name: 'a film', tags: ['video'] });
    const failed = await web.bench.add('broken');
    await web.bench.until(failed, 'failed');
    await web.bench.until(running, (job) => job.progress?.percent === 40);
    // Each path with a text that is shown once the page is loaded.
    const pages = {
      '/': 'a film',
      '/queues': 'lively',
      '/q/lively': 'a film',
      [`/q/lively/${running}`]: 'yellow',
      [`/q/broken/${failed}`]: 'some error',
      '/failures': 'Retry',
      '/schedules': 'No schedules yet',
      '/no/such/page': 'Page not found',
      '/workers': 'Drain …',
      '/throttles': 'No throttles',
      '/search?for=video': 'a film',
      '/settings': 'Audit log',
      [`/compare?a=${failed}&b=${running}`]: 'Difference',
      '/q/none/none': 'Job not found',
      '/login': 'Token',
      '/api': 'Cancels jobs by ids',
    };
    const { page } = await web.openAsAdmin({ bypassCSP: true });
    const script = await fetch(new URL((await page.locator('script[src]').getAttribute('src')) ?? '', web.url));
    expect(script.headers.get('content-encoding')).toBe('gzip');
    const violations: string[] = [];
    for (const [variant, { colorScheme, width }] of VARIANTS.entries()) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      for (const [path, words] of Object.entries(pages).filter((_, place) => isTested(place, variant))) {
        await page.goto(new URL(path, web.url).href);
        await page.locator('main').getByText(words).first().waitFor();
        const found = [...(await seriousViolations(page)), ...(await horizontalOverflow(page))];
        violations.push(...found.map((fault) => `${path} ${colorScheme} ${width}: ${fault}`));
      }
    }
    expect(violations).toEqual([]);
  });
});

describe('an unknown path', () => {
  const web = new WebBench({ prepare: (bench) => bench.queue('mail', 'true') });

  it('is a page for a browser, and a problem in JSON for a program and below /api', async () => {
    const typeOf = async (path: string, accept: string) => {
      const { status, headers } = await fetch(new URL(path, web.url), { headers: { accept } });
      return [status, headers.get('content-type')];
    };
    const [html, problem] = ['text/html; charset=utf-8', 'application/problem+json'];
    expect(await typeOf('/no/such/page?x=1', 'text/html,*/*')).toEqual([404, html]);
    expect(await typeOf('/no/such/page', '*/*')).toEqual([404, problem]);
    expect(await typeOf('/api/nothing', 'text/html,*/*')).toEqual([404, problem]);
  });

  it('names the data directory and a queue that exists in the command of an empty page', async () => {
    const { page } = await web.openAsAdmin();
    await page.goto(new URL('/schedules', web.url).href);
    const command = await page.locator('main code').first().innerText();
    expect(command).toContain(`longhaul schedule set nightly --queue mail --cron '30 3 * * *'`);
    expect(command).toContain(`--home ${web.bench.home}`);
  });
});

async function horizontalOverflow(page: Evaluator): Promise<readonly string[]> {
  const excess = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
  return excess > 0 ? [`the page is ${excess} px too wide`] : [];
}

describe('the built web UI', () => {
  const html = readFileSync(join(built, 'index.html'), 'utf8');

  it('loads at most 120 KB compressed at first', () => {
    const names = [...html.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, name]) => name ?? '');
    const total = ['index.html', ...names].reduce(
      (sum, name) => sum + gzipSync(readFileSync(join(built, name))).length,
      0,
    );
    process.stdout.write(`\nfigures: first load ${(total / KILOBYTE).toFixed(1)} KB compressed\n`);
    expect(total).toBeLessThanOrEqual(MAX_KILOBYTES * KILOBYTE);
  });

  it('has no inline script or style, and no request to another host', () => {
    expect(html).not.toMatch(/<style|\sstyle=|<script(?![^>]*\ssrc=)|\son\w+=|(?:src|href)="(?:https?:)?\/\//);
    const styles = readdirSync(join(built, 'assets')).filter((name) => name.endsWith('.css'));
    const foreign = styles.filter((name) =>
      /url\(\s*["']?(?:https?:)?\/\//.test(readFileSync(join(built, 'assets', name), 'utf8')),
    );
    expect(foreign).toEqual([]);
  });
});
