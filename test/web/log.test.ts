/** The log viewer with a million lines, groups and progress bars that redraw themselves. */
import { describe, expect, it } from 'vitest';
import { waitFor } from '../../src/testing/index.ts';
import { eventually } from '../processes/scripts-workbench.ts';
import { WebBench } from './web-bench.ts';

const LONG = 120_000;
const MAX_ROWS = 60;
const MEGABYTE = 1024 * 1024;

describe('the log viewer', () => {
  const web = new WebBench({
    prepare: (bench) => {
      bench.queue(
        'long',
        'seq 1 1000000 | sed "s/^/number /"; echo "an Error at last"; for i in 1 2 3; do printf "\\rbar %d of 3" $i; done; echo',
      );
      // Truncated at its limit while it is followed: the rest is written once the file exists.
      bench.queue(
        'capped',
        `wait_for() { until [ -e "$(dirname "$0")/$LONGHAUL_JOB_ID.$1~" ]; do sleep 0.1; done; }
seq 1 200 | sed "s/^/early /"; wait_for go
yes "$(printf 'x%.0s' {1..99})" | head -n 20000; wait_for on; echo "after the cut"; sleep 300`,
        { limits: { log: '1MB' }, concurrency: 9 },
      );
      bench.queue(
        'groups',
        'echo before; echo "::group::Install"; seq 101 140; echo "::endgroup::"; echo after; sleep 0.3; echo "--- Test"; echo tested',
      );
    },
  });

  it('opens a million lines at the end, goes to the line in the URL, and keeps few rows and little memory', {
    timeout: LONG,
  }, async () => {
    const id = await web.bench.add('long');
    await web.bench.until(id, 'done', 60_000);
    const { page, pageErrors } = await web.open(`/q/long/${id}`);
    const lines = page.getByRole('region', { name: 'Lines of the log' });
    await lines.getByText('bar 3 of 3').waitFor();
    expect(await lines.getByText('bar 1 of 3').count()).toBe(0);
    await page.goto(new URL(`/q/long/${id}#L500000`, web.url).href);
    await page.reload();
    await lines.getByText('number 500000', { exact: true }).waitFor();

    // Scrolls through all of it: only visible rows must remain.
    for (let step = 0; step <= 100; step += 1)
      await lines.evaluate((element, share) => (element.scrollTop = element.scrollHeight * share), step / 100);
    await lines.evaluate((element) => (element.scrollTop = 0));
    await lines.getByText('number 1', { exact: true }).waitFor();
    expect(await lines.locator('[data-line]').count()).toBeLessThan(MAX_ROWS);
    const used = await page.evaluate<number>('performance.memory.usedJSHeapSize');
    process.stdout.write(`\nfigures: ${(used / MEGABYTE).toFixed(1)} MB in the tab after a log of 1,000,002 lines\n`);
    expect(used).toBeLessThan(100 * MEGABYTE);
    expect(pageErrors).toEqual([]);
  });

  it('searches the whole log, maps the matches, and copies selected lines', {
    timeout: LONG,
  }, async () => {
    const id = await web.bench.add('long');
    await web.bench.until(id, 'done', 60_000);
    const { page, context } = await web.open(`/q/long/${id}`);
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const lines = page.getByRole('region', { name: 'Lines of the log' });
    await lines.getByText('bar 3 of 3').waitFor();
    await page.getByRole('searchbox', { name: 'Search in the log' }).fill('number 77777');
    await page.getByRole('searchbox', { name: 'Search in the log' }).press('Enter');
    await page.getByText('1 of 11').waitFor();
    await lines.locator('mark').first().waitFor();
    await page.getByRole('img', { name: '11 matches in 1000002 lines' }).waitFor();
    await lines.getByRole('link', { name: '77777', exact: true }).click();
    await lines.getByRole('link', { name: '77779', exact: true }).click({ modifiers: ['Shift'] });
    expect(new URL(page.url()).hash).toBe('#L77777-L77779');
    await page.getByRole('button', { name: 'Copy 3 lines' }).click();
    await page.getByText('3 copied').waitFor();
    // Tests share the clipboard of the browser: another one may have copied something meanwhile.
    const copied = async (): Promise<string> => {
      const again = page.getByRole('button', { name: 'Copy 3 lines' });
      if (await again.isVisible()) await again.click();
      return page.evaluate<string>('navigator.clipboard.readText()');
    };
    await expect.poll(copied).toBe('number 77777\nnumber 77778\nnumber 77779');
    await page.getByRole('button', { name: 'regular expression' }).click();
    await page.getByRole('searchbox', { name: 'Search in the log' }).fill('^NUMBER 9{5,6}$');
    await page.getByRole('searchbox', { name: 'Search in the log' }).press('Enter');
    await page.getByText('1 of 2').waitFor();
    await page.getByLabel('Timestamps').selectOption('since start');
    await lines.getByText(/^\+\d/).first().waitFor();
    await page.getByRole('button', { name: 'First error' }).click();
    await lines.getByText('an Error at last').waitFor();
  });

  it('follows a log that is truncated at its limit, with the new line numbers', {
    timeout: LONG,
  }, async () => {
    const id = await web.bench.add('capped');
    const { page, pageErrors } = await web.open(`/q/capped/${id}`);
    const lines = page.getByRole('region', { name: 'Lines of the log' });
    await lines.getByText('early 200', { exact: true }).waitFor();
    web.bench.queue(`${id}.go~`, 'true');
    // Output before the truncation is lost with it.
    await waitFor('the cut', () => web.bench.log(id).includes('bytes of output were dropped here'), {
      deadlineMs: 60_000,
    });
    web.bench.queue(`${id}.on~`, 'true');
    await lines.getByText('after the cut').waitFor();
    const text = web.bench.log(id);
    const last = String(text.split('\n').length - 1);
    await lines.getByRole('link', { name: last, exact: true }).waitFor();
    await page.getByRole('searchbox', { name: 'Search in the log' }).fill('dropped here');
    await page.getByRole('searchbox', { name: 'Search in the log' }).press('Enter');
    await page.getByText('1 of 1').waitFor();
    await lines.getByText(/bytes of output were dropped here/).waitFor();
    await lines.press('Home');
    await lines.getByText('early 1', { exact: true }).waitFor();
    await web.post(`/api/jobs/${id}/cancel`, {});
    expect(pageErrors).toEqual([]);
  });

  it('folds and unfolds a group', { timeout: LONG }, async () => {
    const id = await web.bench.add('groups');
    await web.bench.until(id, 'done');
    const { page } = await web.open(`/q/groups/${id}`);
    const lines = page.getByRole('region', { name: 'Lines of the log' });
    await lines.getByText('after', { exact: true }).waitFor();
    const phases = page.getByRole('region', { name: 'Phases' }).getByRole('listitem');
    await phases.last().getByText('Test').waitFor();
    expect((await phases.allInnerTexts()).map((text) => text.split('\n')[0])).toEqual(['Install', 'Test']);
    await lines.press('Home');
    const group = lines.getByRole('button', { name: /Install/ });
    await group.click();
    await lines.getByText('(41 lines)').waitFor();
    expect(await lines.getByText('101', { exact: true }).count()).toBe(0);
    await lines.getByText('after', { exact: true }).waitFor();
    await group.click();
    await eventually(
      () => lines.getByText('101', { exact: true }).count(),
      (count) => count > 0,
    );
  });
});
