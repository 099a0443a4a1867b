/**
 * `npm start` until the node is there: a short tour of the queue on the embedded store, in a folder of its own.
 * Everything it prints has really happened.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Longhaul, Queue } from '../library/index.ts';
import { connect } from '../library/index.ts';

const STEPS = 20;
const STEP_MS = 100;

const say = (line: string): void => console.log(line);

async function main(): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'longhaul-demo-'));
  say(`Longhaul demo. The store is a SQLite file in ${home}, which goes when the demo ends.\n`);
  try {
    await using longhaul = await connect(home);
    await tour(longhaul);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
  say('\nThat was all of it. Next: the six lines under "Hello" in README.md.');
}

async function tour(longhaul: Longhaul): Promise<void> {
  const films = longhaul.queue<{ title: string }, { steps: number }>('films');
  await films.configure({ retries: 1, backoff: '200ms', lease: '2s' });
  films.work(
    async (job) => {
      if (job.data.title === 'broken' && job.attempt === 1) throw new Error('the first reel is missing');
      if (job.data.title === 'blocking') return block();
      for (let step = 1; step <= STEPS; step++) {
        await new Promise((resolve) => setTimeout(resolve, STEP_MS));
        job.signal.throwIfAborted();
        job.progress((100 * step) / STEPS, `step ${step}`);
      }
      return { steps: STEPS };
    },
    { concurrency: 2, drain: '1s' },
  );
  await oneThatWorks(longhaul, films);
  await oneThatFailsOnce(longhaul, films);
  await oneThatIsCancelled(longhaul, films);
  await oneThatBlocks(longhaul, films);
}

type Films = Queue<{ title: string }, { steps: number }>;

async function oneThatWorks(longhaul: Longhaul, films: Films): Promise<void> {
  say('1. A job of two seconds, watched from outside:');
  const job = await films.add({ title: 'a long one' });
  const watch = setInterval(() => {
    longhaul.find(job.id).then(
      (view) => say(`   ${view?.label ?? 'gone'} ${view?.progress?.text ?? ''}`),
      () => undefined,
    );
  }, 500);
  const result = await job.finished();
  clearInterval(watch);
  say(`   done, with the result ${JSON.stringify(result)}\n`);
}

async function oneThatFailsOnce(longhaul: Longhaul, films: Films): Promise<void> {
  say('2. One that fails the first time, in a queue with one retry:');
  const job = await films.add({ title: 'broken' });
  await job.finished();
  for (const row of await longhaul.history(job.id))
    say(`   ${row.event} → ${row.state}${row.note === null ? '' : ` (${row.note})`}`);
  say('');
}

async function oneThatIsCancelled(longhaul: Longhaul, films: Films): Promise<void> {
  say('3. One that is cancelled while it runs:');
  const job = await films.add({ title: 'unwanted' });
  while ((await longhaul.find(job.id))?.state !== 'running') await new Promise((resolve) => setTimeout(resolve, 20));
  const answer = await longhaul.cancel(job.id);
  say(`   the answer to the cancel: ${answer.ok ? answer.outcome : answer.refusal.message}`);
  await job.finished().catch((error: Error) => say(`   ${error.message}\n`));
}

async function oneThatBlocks(longhaul: Longhaul, films: Films): Promise<void> {
  say('4. One that blocks the event loop for three seconds, with a lease of two:');
  const job = await films.add({ title: 'blocking' });
  await job.finished();
  const view = await longhaul.find(job.id);
  say(`   done in attempt ${view?.attempt}: its lease was renewed from another thread, and nobody ran it twice`);
}

function block(): { steps: number } {
  const end = Date.now() + 3_000;
  let steps = 0;
  while (Date.now() < end) steps += 1;
  return { steps };
}

await main();
