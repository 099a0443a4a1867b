/**
 * A producer and a worker of BullMQ, rewritten: `node mails.mjs`. The comments show the lines before.
 * docs/migrating-from-bullmq.md has the whole table.
 */
import { connect, fail } from 'longhaul';

// const connection = { host: 'localhost', port: 6379 };
const longhaul = await connect(process.env['STORE'] ?? 'redis://localhost:6379');

// const queue = new Queue('mails', { connection, defaultJobOptions: { attempts: 3, backoff: { type: 'fixed', delay: 100 } } });
const mails = longhaul.queue('mails');
await mails.configure({ retries: 2, backoff: '100ms', rate: '100/1m' });

// new Worker('mails', async (job) => { … }, { connection, concurrency: 5, limiter: { max: 100, duration: 60_000 } });
const worker = mails.work(
  async (job) => {
    if (!job.data.to.includes('@')) return fail(`${job.data.to} is no address`, { final: true }); // throw new UnrecoverableError(…)
    if (job.data.to.startsWith('flaky') && job.attempt === 1) throw new Error('connection reset'); // retried
    job.progress(100, 'sent'); // await job.updateProgress(100);
    return { to: job.data.to, attempt: job.attempt };
  },
  { concurrency: 5 },
);

// await queue.add('welcome', { to }, { jobId: 'welcome-ada', priority: 1 });
const welcome = await mails.add({ to: 'ada@example.com' }, { name: 'welcome', id: 'welcome-ada', priority: 1 });
const flaky = await mails.add({ to: 'flaky@example.com' });
const wrong = await mails.add({ to: 'nowhere' });

// await job.waitUntilFinished(queueEvents);
console.log(await welcome.finished());
console.log(await flaky.finished());
console.log(await wrong.finished().catch((error) => error.message));

// The same jobId is not added twice, as with BullMQ.
console.log((await mails.add({ to: 'ada@example.com' }, { id: 'welcome-ada' })).outcome);

await worker.stop(); // await worker.close();
await longhaul.close(); // await queue.close();
