/**
 * A CPU-bound handler in processes of its own: `node main.mjs`. The event loop of this program stays free, two jobs use
 * two cores, and a job that does not end is cancelled: its process is killed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'longhaul';

const longhaul = await connect(process.env['STORE'] ?? './longhaul');
const primes = longhaul.queue('primes');
await primes.configure({ grace: '200ms' });
const work = primes.work(new URL('./primes.mjs', import.meta.url), { isolate: 'process', concurrency: 2 });
await work.ready;

let [turns, longest, last] = [0, 0, Date.now()];
const timer = setInterval(() => {
  turns += 1;
  longest = Math.max(longest, Date.now() - last);
  last = Date.now();
}, 10);

const jobs = await primes.addAll([{ up: 200_000 }, { up: 300_000 }]);
console.log(await Promise.all(jobs.map(({ id }) => longhaul.finished(id))));

const endless = await primes.add({ up: Number.MAX_SAFE_INTEGER });
while ((await longhaul.find(endless.id))?.state !== 'running') await sleep(20);
// It uses a core meanwhile, and the timer above still fires.
await sleep(300);
await longhaul.cancel(endless.id);
while ((await longhaul.find(endless.id))?.state !== 'cancelled') await sleep(20);
clearInterval(timer);
console.log(`cancelled; the event loop had ${turns > 5 ? 'many' : 'few'} turns, the longest wait ${longest} ms`);
await longhaul.close();
