/** Durable steps in the web UI: watched while the job runs, an event sent by a button, waits in lists, failed steps. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ActiveJob, Longhaul } from '../../src/library/index.ts';
import { connect } from '../../src/library/index.ts';
import { cli } from '../processes/scripts-workbench.ts';
import { testSize } from '../support/test-size.ts';
import { seriousViolations } from './axe-check.ts';
import { logIn, WebBench } from './web-bench.ts';

const LONG = 120_000;
/** At the small size the page is checked in one theme; `accessibility.test.ts` has other pages in the other. */
const THEMES = testSize({ small: ['dark'] as const, full: ['light', 'dark'] as const });
const STEPS = ['fetch', 'cut', 'encode', 'upload', 'publish'];

/** Five steps, with an approval after the third. */
async function film(job: ActiveJob): Promise<unknown> {
  const run = (name: string) => job.step(name, () => ({ name, seconds: 2 }));
  await run('fetch');
  job.log('fetched');
  await run('cut');
  await run('encode');
  const answer = await job.waitForEvent('approval', { timeout: '7d' });
  await run('upload');
  job.log('uploaded');
  await run('publish');
  return answer;
}

/** The same as a script. */
const SCRIPT = `set -e
longhaul() { '${process.execPath}' '${cli}' "$@"; }
run() { longhaul step "$1" -- echo "$1 done"; }
run fetch; run cut; run encode
answer=$(longhaul step --event approval --timeout 7d)
run upload; run publish
echo "answer $answer"`;

describe('durable steps in the web UI', () => {
  const web = new WebBench({
    prepare: (bench) => {
      bench.queue('scripted', SCRIPT);
      bench.queue('unscripted', `'${process.execPath}' '${cli}' step upload -- bash -c 'exit 9'`);
    },
  });
  let longhaul: Longhaul;
  beforeAll(async () => {
    longhaul = await connect(web.url);
    longhaul.queue<null, unknown>('films').work(film);
    longhaul.queue<null, unknown>('naps').work((job) => job.sleep('2d'));
    longhaul
      .queue<null, unknown>('broken')
      .work((job) => job.step('upload', () => Promise.reject(new Error('disk full'))));
  });
  afterAll(() => longhaul.close());

  const waits = async (id: string): Promise<void> => {
    await expect.poll(async () => (await longhaul.find(id))?.label).toBe('suspended');
  };
  const table = (page: Page) => page.getByRole('table', { name: 'Steps' });

  it('shows a job with five steps and an approval, which a button sends with data', { timeout: LONG }, async () => {
    const queue = longhaul.queue<null, unknown>('films');
    const { id } = await queue.add(null, { name: 'film 8', runAt: new Date(Date.now() + 1_000) });
    const { page, pageErrors } = await web.open(`/q/films/${id}`, { bypassCSP: true });
    const title = page.getByRole('heading', { level: 1 });
    await title.getByText('waiting · suspended').waitFor();
    await page.getByText(/^waiting for approval until \w{3} \d+ \w{3}/).waitFor();
    for (const name of STEPS.slice(0, 3))
      await table(page)
        .getByRole('row', { name: `${name} run done 1` })
        .waitFor();
    await table(page)
      .getByRole('row', { name: /approval event waiting .* until / })
      .waitFor();
    expect(await table(page).getByRole('row').count()).toBe(1 + 4);
    await page
      .getByRole('img', { name: /attempt 1 ran for .*, suspended; waiting for approval for .*, in progress/ })
      .waitFor();
    for (const colorScheme of THEMES) {
      await page.emulateMedia({ colorScheme });
      expect(await seriousViolations(page)).toEqual([]);
    }

    const log = page.getByRole('region', { name: 'Log', exact: true });
    await log.getByText('fetched', { exact: true }).waitFor();
    await log.getByText('The attempt is suspended; new lines appear when it is resumed.').waitFor();

    await page.getByRole('button', { name: 'Send “approval” …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Send “approval”?' });
    await dialog.getByLabel('Data').fill('{"by": ');
    await dialog.getByRole('button', { name: 'Send approval' }).click();
    await dialog.getByText(/JSON/).last().waitFor();
    if (THEMES.length > 1) expect(await seriousViolations(page)).toEqual([]);
    await dialog.getByLabel('Data').fill('{"by": "anna"}');
    await dialog.getByRole('button', { name: 'Send approval' }).click();
    await title.getByText('done', { exact: true }).waitFor();
    await table(page)
      .getByRole('row', { name: /^approval event done .*\{"by":"anna"\}/ })
      .waitFor();
    for (const name of STEPS)
      await table(page)
        .getByRole('row', { name: `${name} run done 1` })
        .waitFor();
    expect(await page.getByRole('button', { name: /Send/ }).count()).toBe(0);
    await log.getByText('uploaded', { exact: true }).waitFor();
    await page.getByRole('img', { name: /waiting for approval for .*, notified/ }).waitFor();
    expect(await longhaul.find(id)).toMatchObject({ state: 'done', attempt: 1, result: { by: 'anna' } });
    expect(pageErrors).toEqual([]);
  });

  it('shows the steps of a script, which a button resumes, and the step in which a script failed', {
    timeout: LONG,
  }, async () => {
    const id = await web.bench.add('scripted', null, { name: 'a script' });
    const { page, pageErrors } = await web.open(`/q/scripted/${id}`);
    const log = page.getByRole('region', { name: 'Log', exact: true });
    await page.getByText(/^waiting for approval until/).waitFor();
    await table(page).getByRole('row', { name: 'encode run done 1' }).waitFor();
    await log.getByText('encode done').waitFor();
    await page.getByRole('button', { name: 'Send “approval” …' }).click();
    await page.getByRole('dialog').getByLabel('Data').fill('"yes"');
    await page.getByRole('button', { name: 'Send approval' }).click();
    await page.getByRole('heading', { level: 1 }).getByText('done', { exact: true }).waitFor();
    for (const name of STEPS)
      await table(page)
        .getByRole('row', { name: `${name} run done 1` })
        .waitFor();
    await log.getByText('answer "yes"').waitFor();

    const failed = await web.bench.add('unscripted');
    await web.bench.until(failed, 'failed');
    await page.goto(new URL(`/q/unscripted/${failed}`, web.url).href);
    await page.getByText('step upload: exited with status 9').first().waitFor();
    expect(pageErrors).toEqual([]);
  });

  it('says that the event had arrived before, and offers no button to a user with the role read', {
    timeout: LONG,
  }, async () => {
    const queue = longhaul.queue<null, unknown>('held');
    queue.work(film);
    const { id } = await queue.add(null);
    await waits(id);
    const { page, pageErrors } = await web.open(`/q/held/${id}`);
    await page.getByRole('button', { name: 'Send “approval” …' }).click();
    await web.post('/api/queues/held/pause', {});
    await longhaul.notify(id, 'approval', 'first');
    await page.getByRole('button', { name: 'Send approval' }).click();
    await page.getByText('The event had arrived before. The first one counts.').waitFor();
    await web.post('/api/queues/held/resume', {});
    await expect.poll(async () => (await longhaul.find(id))?.result).toBe('first');

    const other = await queue.add(null);
    await waits(other.id);
    await logIn(page, await web.token('read'), web.url);
    await page.goto(new URL(`/q/held/${other.id}`, web.url).href);
    await page.getByText(/^waiting for approval until/).waitFor();
    expect(await page.getByRole('button', { name: /Send/ }).count()).toBe(0);
    expect(pageErrors).toEqual([]);
  });

  it('shows in lists what suspended jobs wait for, and the step in which a job failed', { timeout: LONG }, async () => {
    const nap = await longhaul.queue<null, unknown>('naps').add(null);
    const wait = await longhaul.queue<null, unknown>('films').add(null, { name: 'film 9' });
    const failed = await longhaul.queue<null, unknown>('broken').add(null);
    await Promise.all([waits(nap.id), waits(wait.id)]);
    await expect.poll(async () => (await longhaul.find(failed.id))?.state).toBe('failed');
    const { page, pageErrors } = await web.open('/q/naps');
    await page.getByRole('row', { name: /waiting · suspended .*sleeping until \w{3} \d+ \w{3} at/ }).waitFor();
    await page.goto(new URL('/q/films?label=suspended', web.url).href);
    await page.getByRole('row', { name: /film 9 .*waiting · suspended .*waiting for approval until/ }).waitFor();
    await page.goto(new URL('/failures', web.url).href);
    await page.getByRole('link', { name: 'Error: step upload: disk full' }).click();
    await page.getByRole('row', { name: /step upload: disk full/ }).waitFor();
    await page.goto(new URL(`/q/broken/${failed.id}`, web.url).href);
    await page.getByText('Error: step upload: disk full').first().waitFor();
    await table(page)
      .getByRole('row', { name: /upload run failed 1 .*disk full/ })
      .waitFor();
    expect(pageErrors).toEqual([]);
  });
});
