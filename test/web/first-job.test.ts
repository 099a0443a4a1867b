/** From an empty node to a job that runs, is followed and is ended, by clicking only. */
import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Bench, eventually, markedWith } from '../processes/scripts-workbench.ts';
import { PageBench } from './page-bench.ts';

const LONG = 120_000;

/** The first `serve` makes it, with the queue to try things with. */
function noHome(): Bench {
  const bench = new Bench();
  rmSync(bench.home, { recursive: true });
  return bench;
}

describe('the page of an empty node', () => {
  const web = new PageBench({ home: noHome });

  it('leads to a first job whose progress and log move by themselves, and whose cancel ends every process', {
    timeout: LONG,
  }, async () => {
    await forgetAll(web.bench);
    const { page, troubles } = await web.open('/');
    await page.getByRole('button', { name: 'Start a job' }).click();
    await page.waitForURL(/\/q\/sample\/[^/]+$/);
    const lines = page.getByRole('region', { name: 'Lines of the log' });
    await lines.getByText('step 2 of 60').waitFor();
    const bar = page.getByRole('progressbar', { name: 'progress' });
    const before = Number(await bar.getAttribute('value'));
    await lines.getByText('step 5 of 60').waitFor();
    await eventually(
      async () => Number(await bar.getAttribute('value')),
      (percent) => percent > before,
    );

    const id = decodeURIComponent(page.url().split('/').at(-1) ?? '');
    const folder = web.bench.folder(id);
    expect(markedWith(folder).length).toBeGreaterThan(0);
    await page.getByRole('button', { name: 'Cancel …' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(/TERM is sent to/).waitFor();
    await dialog.getByText(/After 10 s of grace, KILL/).waitFor();
    const tree = dialog.getByRole('table', { name: 'Processes of the job' });
    await tree.getByRole('row', { name: /└─ sleep/ }).waitFor();
    const { pid } = (await web.bench.find(id)).lease ?? {};
    await tree.getByRole('row', { name: new RegExp(`queues/sample.* ${pid} `) }).waitFor();
    await page.getByRole('button', { name: 'Cancel the job' }).click();
    await page.getByRole('heading', { level: 1 }).getByText('cancelled', { exact: true }).waitFor();
    expect(markedWith(folder)).toEqual([]);
    expect(troubles).toEqual([]);
  });
});

/** What an earlier try has left: this is about a node without jobs. */
async function forgetAll(bench: Bench): Promise<void> {
  const longhaul = await bench.longhaul();
  for (const { id } of (await longhaul.list()).jobs) {
    await longhaul.cancel(id);
    await bench.until(id, ({ state }) => state !== 'running');
    await longhaul.delete(id);
  }
}
