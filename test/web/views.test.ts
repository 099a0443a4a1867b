/** Further views: attempts, dependencies, throttles, keyboard shortcuts, bulk actions, search, copy buttons. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Overview } from '../../src/wire/overview.ts';
import { eventually } from '../processes/scripts-workbench.ts';
import { WebBench } from './web-bench.ts';

const LONG = 120_000;

describe('the views of the web UI', () => {
  const web = new WebBench({
    prepare: (bench) => {
      // Fails once, then runs for a while, so that there are samples to draw.
      bench.queue(
        'twice',
        `if [ "$LONGHAUL_ATTEMPT" = 1 ]; then echo "the first try"; exit 3; fi
echo "the second try"; echo "progress 30 get ready" >&3; sleep 0.3; echo "progress 62 pass 2: on" >&3
for i in $(seq 600); do for n in $(seq 2000); do :; done; sleep 0.2; done`,
        { retries: 1, backoff: { kind: 'fixed', delay: '100ms' }, concurrency: 9 },
      );
      bench.queue('idle', 'true', { state: 'paused' });
    },
  });

  it('shows a job of several attempts: timeline, resource use and each log', {
    timeout: LONG,
  }, async () => {
    const id = await web.bench.add('twice', null, { name: 'a second chance' });
    const { page, pageErrors } = await web.open(`/q/twice/${id}`);
    await page
      .getByRole('img', { name: /attempt 1 ran for .*, failed; waiting .*; attempt 2 ran for .*, in progress/ })
      .waitFor();
    await eventually(
      () => page.title(),
      (title) => title.startsWith('62 % · a second chance'),
    );
    const attempts = page.getByRole('table', { name: 'Attempts' });
    await attempts.getByRole('row', { name: /^2 running/ }).waitFor();
    await attempts.getByRole('row', { name: /^1 failed 3 / }).waitFor();
    const running = page.getByRole('region', { name: 'Running' });
    await running.getByText(/^ends (in|any) .*, by its progress$/).waitFor();
    await running.getByText('pass 2: on').waitFor();
    const phases = page.getByRole('region', { name: 'Phases' });
    await phases.getByText('get ready').waitFor();
    await phases
      .getByRole('listitem')
      .filter({ hasText: /pass 2.* so far/ })
      .waitFor();
    for (const name of [/^CPU, % of a core: .* at most/, /^Memory: .* MB/, /^Disk I\/O per second/]) {
      const plot = page.getByRole('img', { name });
      await plot.locator('canvas').waitFor();
    }
    const lines = page.getByRole('region', { name: 'Lines of the log' });
    await lines.getByText('the second try').waitFor();
    await attempts.getByRole('button', { name: '1' }).click();
    await lines.getByText('the first try').waitFor();
    expect(new URL(page.url()).searchParams.get('attempt')).toBe('1');
    const age = page.getByRole('table', { name: 'Attempts' }).locator('time').last();
    expect(await age.innerText()).toMatch(/ago|now/);
    expect(await age.getAttribute('title')).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
    await web.post(`/api/jobs/${id}/cancel`, {});
    await attempts.getByRole('link', { name: 'with 1' }).click();
    await page.waitForURL(/\/compare\?/);
    const logs = page.getByRole('region', { name: 'Difference of the logs' });
    await logs.getByText('the first try').waitFor();
    await logs.getByText('the second try').waitFor();
    const figures = page.getByRole('table', { name: 'Run metrics' });
    await figures.getByRole('row', { name: /^ran for / }).waitFor();
    await page
      .getByRole('table', { name: 'Phases' })
      .getByRole('row', { name: /^pass 2 – / })
      .waitFor();
    expect(pageErrors).toEqual([]);
  });

  it('shows parents and dependents of a job with links', {
    timeout: LONG,
  }, async () => {
    const first = await web.post<{ id: string }>('/api/jobs', { queue: 'idle', name: 'the first' });
    const body = { queue: 'idle', name: 'the second', dependsOn: [first.id] };
    const second = await web.post<{ id: string }>('/api/jobs', body);
    const { page, pageErrors } = await web.open(`/q/idle/${second.id}`);
    await page.getByRole('heading', { level: 1 }).getByText('blocked').waitFor();
    const links = page.getByRole('region', { name: 'Dependencies' });
    await links.getByRole('link', { name: 'the second, blocked, this job' }).waitFor();
    await links.getByRole('link', { name: 'the first, paused' }).click();
    await page.waitForURL(new RegExp(`/q/idle/${first.id}$`));
    await links.getByRole('link', { name: 'the first, paused, this job' }).waitFor();
    await links.getByRole('link', { name: 'the second, blocked' }).waitFor();
    await page.getByRole('button', { name: 'Cancel job …' }).click();
    const choice = page.getByRole('dialog').getByRole('group', { name: 'One job depends on it:' });
    await choice.getByLabel('cancel them too').check();
    await page.getByRole('button', { name: 'Cancel job', exact: true }).click();
    await page.getByRole('heading', { level: 1 }).getByText('cancelled', { exact: true }).waitFor();
    await web.bench.until(second.id, 'cancelled');
    expect(pageErrors).toEqual([]);
  });

  it('shows holders and waiting jobs of a throttle, and sets its maximum', { timeout: LONG }, async () => {
    const queue = `held-${Date.now()}`;
    await fetch(new URL('/api/throttles/tape-drive', web.url), { method: 'DELETE' });
    const { page, pageErrors } = await web.open('/queues');
    await page.getByRole('link', { name: 'Throttles' }).click();
    await page.getByText('No throttles').waitFor();
    await page.getByRole('button', { name: 'New throttle …' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('tape-drive');
    await page
      .getByRole('dialog')
      .getByLabel(/Maximum/)
      .fill('1');
    await page.getByRole('button', { name: 'Save' }).click();
    const row = page.getByRole('row', { name: /tape-drive/ });
    await row.waitFor();
    const bodies = [1, 2].map((n) => ({ queue, name: `to tape ${n}`, throttles: ['tape-drive'] }));
    const [first, second] = await web.post<{ id: string }[]>('/api/jobs', bodies);
    const { store } = await web.bench.longhaul();
    const held = (await store.jobs.claim({ worker: 'test', queues: [queue], limit: 2, requestId: queue })).jobs;
    // Frees the slot for another try.
    onTestFinished(async () => {
      await store.jobs.settle(held.map(({ id, lease }) => ({ kind: 'complete', id, token: lease?.token ?? 0 })));
      await store.jobs.cancel([{ id: second?.id ?? '' }]);
    });
    await page.reload();
    await eventually(
      () => row.getByRole('cell').allInnerTexts(),
      ([, heldSlots, max, , , waiting, holders]) =>
        [heldSlots, max, waiting, holders].join(' ') === `1 1 1 ${first?.id}`,
    );
    await row.getByRole('link').click();
    await page.waitForURL(new RegExp(`/q/${queue}/${first?.id}$`));
    expect(pageErrors).toEqual([]);
  });

  it('can be used with the keyboard alone', { timeout: LONG }, async () => {
    await web.post(
      '/api/jobs',
      [1, 2].map((n) => ({ queue: 'idle', name: `by keys ${n}` })),
    );
    const { page } = await web.open('/');
    await page.getByRole('heading', { name: 'Queues' }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('next and previous row').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    // Repeated if the two keys took more than a second.
    const goToQueues = async () => {
      for (const key of ['g', 'q']) await page.keyboard.press(key);
      return page.url();
    };
    await expect.poll(goToQueues).toMatch(/\/queues$/);
    await page.getByRole('link', { name: 'twice' }).waitFor();
    const focused = page.locator('a:focus');
    const names: string[] = [];
    while (!names.includes('twice') && names.length < 20) {
      await page.keyboard.press('j');
      names.push(await focused.innerText());
    }
    expect(names).toEqual([...new Set(names)].sort());
    while ((await focused.innerText()) !== 'idle' && names.length > 0) {
      names.pop();
      await page.keyboard.press('k');
    }
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/q\/idle$/);
    await page.keyboard.press('/');
    // Keys typed into a field are not shortcuts.
    await page.keyboard.type('by keys 2 g q ?');
    expect(await page.getByRole('searchbox').first().inputValue()).toBe('by keys 2 g q ?');
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  it('applies an action to all matching or to selected jobs, and shows their number before', {
    timeout: LONG,
  }, async () => {
    const queue = `many-${Date.now()}`;
    await web.post('/api/queues', { name: queue, state: 'paused' });
    const bodies = [1, 2, 3].map((n) => ({ queue, id: `${queue}-${n}`, name: `one of many ${n}` }));
    await web.post('/api/jobs', [...bodies, { queue, name: 'one of many 4', dependsOn: [`${queue}-1`] }]);
    const { page, pageErrors } = await web.open(`/q/${queue}`);
    // New rows wait until the pointer leaves the list.
    await page.getByRole('link', { name: 'one of many 2' }).hover();
    await web.post('/api/jobs', { queue, id: `${queue}-late`, name: 'one too many' });
    await page.getByText('1 new: shown when the pointer leaves the list').waitFor();
    expect(await page.getByRole('link', { name: 'one too many' }).count()).toBe(0);
    await page.getByRole('heading', { level: 1 }).hover();
    await page.getByRole('link', { name: 'one too many' }).waitFor();
    await fetch(new URL(`/api/jobs/${queue}-late`, web.url), { method: 'DELETE' });
    await page.getByRole('link', { name: 'one too many' }).waitFor({ state: 'detached' });
    await page.getByLabel('select one of many 2').check();
    await page.getByText('With 1 selected:').waitFor();
    await page.getByRole('button', { name: 'Delete …' }).click();
    await page.getByRole('dialog').getByText('cannot be undone').waitFor();
    await page.getByRole('button', { name: 'Delete 1 selected' }).click();
    await page.getByText('1 done').waitFor();
    await page.getByRole('button', { name: 'Select all 3 that match' }).click();
    await page.getByText('With all 3 that match:').waitFor();
    await page.getByRole('button', { name: 'Cancel …' }).click();
    // Closing the dialog changes nothing.
    await page.getByRole('button', { name: 'Close' }).last().click();
    await page.getByRole('button', { name: 'Cancel …' }).click();
    const choice = page.getByRole('group', { name: 'Other jobs depend on 1 of them:' });
    await choice.getByLabel('keep waiting').check();
    await page.getByRole('button', { name: 'Cancel all 3 that match' }).click();
    await page.getByText('3 done').waitFor();
    await page.getByRole('button', { name: 'cancelled 3' }).click();
    await page.getByRole('link', { name: 'one of many 1' }).waitFor();
    expect(pageErrors).toEqual([]);
  });

  it('finds a job by id, name or tag, and shows totals in the header', {
    timeout: LONG,
  }, async () => {
    const { id } = await web.post<{ id: string }>('/api/jobs', {
      queue: 'idle',
      name: 'the lost one',
      tags: ['needle'],
      delay: '1h',
    });
    const { page, context } = await web.open('/');
    for (const words of [id, 'the lost one', 'needle']) {
      await page.getByRole('searchbox').first().fill(words);
      await page.getByRole('searchbox').first().press('Enter');
      await page.locator('main').getByRole('link', { name: 'the lost one' }).first().waitFor();
      expect(new URL(page.url()).searchParams.get('for')).toBe(words);
    }
    await page.goto(new URL('/search?for=missing', web.url).href);
    await page.getByText('No results').waitFor();

    const { scheduled } = (await (await fetch(new URL('/api/overview', web.url))).json()) as Overview;
    await page.getByRole('region', { name: 'Totals' }).getByText(String(scheduled), { exact: true }).first().waitFor();
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.goto(new URL(`/q/idle/${id}`, web.url).href);
    // As text, in the time zone of the browser.
    await page.getByText(/^not before (today|tomorrow) at \d\d:\d\d$/).waitFor();
    // The page writes to the clipboard asynchronously, and tests share the clipboard of the browser.
    const isCopied = async (name: string, words: string) => {
      const copied = async (): Promise<string> => {
        await page.getByRole('button', { name }).click();
        return page.evaluate<string>('navigator.clipboard.readText()');
      };
      await expect.poll(copied).toBe(words);
    };
    await isCopied('copy as command', `longhaul show ${id}`);
    await isCopied('copy as curl', `curl -s ${new URL(`/api/jobs/${id}`, web.url).href}`);
    await page.goto(new URL('/q/idle?state=waiting&name=the+lost+one', web.url).href);
    await isCopied('copy as command', "longhaul ls idle --state waiting --name 'the lost one'");
    const list = new URL('/api/jobs?queue=idle&state=waiting&name=the+lost+one', web.url).href;
    await isCopied('copy as curl', `curl -s '${list}'`);
  });
});
