/**
 * A video pipeline with durable steps: `node pipeline.mjs`. It cuts a film, encodes its parts as jobs of their own,
 * joins them and publishes the result. The first upload fails; the second attempt repeats only that step.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'longhaul';

const longhaul = await connect(process.env['STORE'] ?? './longhaul');

const parts = longhaul.queue('parts');
parts.work(
  async (job) => {
    for (let percent = 0; percent < 100; percent += 25) {
      job.signal.throwIfAborted();
      job.progress(percent, `part ${job.data.part}`);
      await sleep(10); // here a real program calls ffmpeg
    }
    return `${job.data.film}-${job.data.part}.mp4`;
  },
  { concurrency: 2 },
);

let uploads = 0;
const films = longhaul.queue('films');
await films.configure({ retries: 2, backoff: '100ms' });
films.work(async (job) => {
  const { film } = job.data;
  const count = await job.step('cut', () => {
    console.log(`cut ${film}`);
    return 3;
  });
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  const encoded = await job.children(numbers.map((part) => ({ queue: 'parts', data: { film, part } })));
  const joined = await job.step('join', () => {
    console.log(`join ${encoded.map(({ result }) => result).join(' ')}`);
    return `${film}.mp4`;
  });
  return job.step('upload', () => {
    uploads += 1;
    console.log(`upload ${joined}, try ${uploads}`);
    if (uploads === 1) throw new Error('the connection was reset');
    return `https://films.example/${joined}`;
  });
});

console.log(await films.run({ film: 'metropolis' }));
await longhaul.close();
