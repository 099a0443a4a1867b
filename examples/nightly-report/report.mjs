/**
 * A nightly report: `node report.mjs` runs it every night at half past three; `node report.mjs --now` runs it once and
 * ends. The schedule adds one job, which adds a job for each shop and a summary that waits for all of them.
 */
import { connect } from 'longhaul';

const longhaul = await connect(process.env['STORE'] ?? './longhaul');
const nightly = longhaul.queue('nightly');
const shops = longhaul.queue('shops');
const summaries = longhaul.queue('summaries');

nightly.work(async (job) => {
  // Ids that follow from the job's own: an attempt that is repeated adds nothing twice.
  const names = ['berlin', 'lyon', 'porto'];
  const ids = names.map((name) => `${job.id}:${name}`);
  for (const [place, shop] of names.entries()) await shops.add({ shop }, { id: ids[place], retries: 3 });
  await summaries.add(null, { id: `${job.id}:summary`, dependsOn: ids, onDependencyFailed: 'run' });
  return `${job.id}:summary`;
});
shops.work(async (job) => ({ shop: job.data.shop, orders: job.data.shop.length * 10 }), { concurrency: 3 });
summaries.work(async (job) => {
  const done = (await job.parents()).filter(({ state }) => state === 'done').map(({ result }) => result);
  await job.attach('report.csv', Buffer.from(done.map(({ shop, orders }) => `${shop},${orders}\n`).join('')));
  return { shops: done.length, orders: done.reduce((sum, { orders }) => sum + orders, 0) };
});

// At every start: the same definition changes nothing.
const { words } = await nightly.schedule('nightly-report', {
  cron: '30 3 * * *',
  zone: 'Europe/Berlin',
  overlap: 'skip',
  catchUp: '6h',
});
console.log(words);

if (process.argv.includes('--now')) {
  const { id } = await longhaul.schedules.runNow('nightly-report');
  const summary = await longhaul.finished(id);
  console.log(await longhaul.finished(summary));
  console.log((await (await longhaul.files(summary).get('report.csv')).text()).trimEnd());
  await longhaul.close();
}
