/** What holds on every page: it can be used by everybody, in both themes, on a phone and on a desk; and it is small. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import axe from 'axe-core';
import { describe, expect, it } from 'vitest';
import { testSize } from '../support/test-size.ts';
import { PageBench } from './page-bench.ts';

const LONG = 150_000;
const built = join(import.meta.dirname, '../../dist/web');
const KILOBYTE = 1024;
const MOST_KILOBYTES = 120;
const PHONE = 390;
const DESK = 1440;

interface Look {
  readonly colorScheme: 'light' | 'dark';
  readonly width: number;
}

const LOOKS: readonly Look[] = [
  { colorScheme: 'light', width: PHONE },
  { colorScheme: 'dark', width: DESK },
  { colorScheme: 'light', width: DESK },
  { colorScheme: 'dark', width: PHONE },
];
/** In small, every page once, and one page after the other in another look. */
const isLookedAt = (page: number, look: number): boolean =>
  testSize({ small: page % LOOKS.length === look, full: true });

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

describe('every page', () => {
  const web = new PageBench({
    prepare: (bench) => {
      bench.queue(
        'lively',
        'echo "\u001b[32mgreen\u001b[0m and \u001b[33myellow"; echo "progress 40 well" >&3; sleep 300',
        { concurrency: 9 },
      );
      bench.queue('broken', 'echo "some error"; exit 3');
    },
  });

  it('has no serious fault that axe knows of, and no sideways scrolling, in both themes and at both widths', {
    timeout: LONG,
  }, async () => {
    const running = await web.bench.add('lively', { a: 1 }, { name: 'a film', tags: ['video'] });
    const failed = await web.bench.add('broken');
    await web.bench.until(failed, 'failed');
    await web.bench.until(running, (job) => job.progress?.percent === 40);
    // With what each shows when it is all there.
    const pages = {
      '/': 'a film',
      '/queues': 'lively',
      '/q/lively': 'a film',
      [`/q/lively/${running}`]: 'yellow',
      [`/q/broken/${failed}`]: 'some error',
      '/failures': 'Run again',
      '/workers': 'Load',
      '/throttles': 'Nothing is throttled',
      '/search?for=video': 'a film',
      '/settings': 'Audit',
      [`/compare?a=${failed}&b=${running}`]: 'Difference',
      '/q/none/none': 'There is no such job',
    };
    const { page } = await web.openAsAdmin({ bypassCSP: true });
    const script = await fetch(new URL((await page.locator('script[src]').getAttribute('src')) ?? '', web.url));
    expect(script.headers.get('content-encoding')).toBe('gzip');
    const faults: string[] = [];
    for (const [look, { colorScheme, width }] of LOOKS.entries()) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      for (const [path, words] of Object.entries(pages).filter((_, place) => isLookedAt(place, look))) {
        await page.goto(new URL(path, web.url).href);
        await page.locator('main').getByText(words).first().waitFor();
        const found = [...(await serious(page)), ...(await sideways(page))];
        faults.push(...found.map((fault) => `${path} ${colorScheme} ${width}: ${fault}`));
      }
    }
    expect(faults).toEqual([]);
  });
});

type Looked = { evaluate<T>(script: string): Promise<T> };

async function sideways(page: Looked): Promise<readonly string[]> {
  const excess = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
  return excess > 0 ? [`the page is ${excess} px too wide`] : [];
}

async function serious(page: Looked): Promise<readonly string[]> {
  await page.evaluate(`${axe.source};0`);
  // What is in order is not described, and there are no frames: that is most of its work.
  const wishes = JSON.stringify({ resultTypes: ['violations'], iframes: false, preload: false, elementRef: false });
  const found = await page.evaluate<readonly Violation[]>(
    `axe.run(document, ${wishes}).then(({ violations }) => violations)`,
  );
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map(({ html, failureSummary }) => `${html.slice(0, 200)} ${failureSummary}`).join('; ')}`,
    );
}

describe('the page as it is built', () => {
  const html = readFileSync(join(built, 'index.html'), 'utf8');

  it('is at most 120 KB on its first load, compressed', () => {
    const names = [...html.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, name]) => name ?? '');
    const total = ['index.html', ...names].reduce(
      (sum, name) => sum + gzipSync(readFileSync(join(built, name))).length,
      0,
    );
    process.stdout.write(`\nfigures: first load ${(total / KILOBYTE).toFixed(1)} KB compressed\n`);
    expect(total).toBeLessThanOrEqual(MOST_KILOBYTES * KILOBYTE);
  });

  it('has no script and no style within its markup, and asks nothing of another host', () => {
    expect(html).not.toMatch(/<style|\sstyle=|<script(?![^>]*\ssrc=)|\son\w+=|(?:src|href)="(?:https?:)?\/\//);
    const styles = readdirSync(join(built, 'assets')).filter((name) => name.endsWith('.css'));
    const foreign = styles.filter((name) =>
      /url\(\s*["']?(?:https?:)?\/\//.test(readFileSync(join(built, 'assets', name), 'utf8')),
    );
    expect(foreign).toEqual([]);
  });
});
