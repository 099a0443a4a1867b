/** From an empty node to a running and cancelled job, by clicks only. */
import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Bench, eventually, markedWith } from '../processes/scripts-workbench.ts';
import { WebBench } from './web-bench.ts';

const LONG = 120_000;

/** A data directory that does not exist: the first `serve` creates it with the sample queue. */
function missingHome(): Bench {
  const bench = new Bench();
  rmSync(bench.home, { recursive: true });
  return bench;
}

describe('the web UI of an empty node', () => {
  const web = new WebBench({ home: missingHome });

  it('starts a first job with live progress and log, and cancels it with every process', {
    timeout: LONG,
  }, async () => {
    await deleteAllJobs(web.bench);
    const { page, pageErrors } = await web.open('/');
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
    await page.getByRole('button', { name: 'Cancel job …' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(/TERM is sent to/).waitFor();
    await dialog.getByText(/After a grace period of 10 s, KILL/).waitFor();
    const tree = dialog.getByRole('table', { name: 'Processes of the job' });
    await tree.getByRole('row', { name: /└─ sleep/ }).waitFor();
    const { pid } = (await web.bench.find(id)).lease ?? {};
    await tree.getByRole('row', { name: new RegExp(`queues/sample.* ${pid} `) }).waitFor();
    await page.getByRole('button', { name: 'Cancel job', exact: true }).click();
    await page.getByRole('heading', { level: 1 }).getByText('cancelled', { exact: true }).waitFor();
    expect(markedWith(folder)).toEqual([]);
    expect(pageErrors).toEqual([]);
  });
});

/** Deletes jobs of an earlier try: the test needs a node without jobs. */
async function deleteAllJobs(bench: Bench): Promise<void> {
  const longhaul = await bench.longhaul();
  for (const { id } of (await longhaul.list()).jobs) {
    await longhaul.cancel(id);
    await bench.until(id, ({ state }) => state !== 'running');
    await longhaul.delete(id);
  }
}
