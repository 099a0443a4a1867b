/** Rates of adding and processing, in jobs a second. */
import { contenders } from '../frame/contenders.mjs';

const all = Object.keys(contenders).filter((name) => !contenders[name].isLongOnly);
/** Its settings for speed are those of a worker: it adds as with its defaults. */
const producers = all.filter((name) => name !== 'graphile-worker-local');
const graphile = ['graphile-worker', 'graphile-worker-local'];

export const rates = [
  {
    part: 'add',
    title: 'add one by one, 500 in flight',
    names: producers,
    once: async ({ run }, { add }) => ({ add: (await run('add', { count: add, inFlight: 500 })).rate }),
  },
  {
    part: 'bulk',
    title: 'add in bulk, 1,000 a call',
    names: producers,
    once: async ({ run }, { bulk }) => ({ bulk: (await run('addBulk', { count: bulk })).rate }),
  },
  process({ part: 'work1', concurrency: 1 }),
  process({ part: 'work100', concurrency: 100 }),
  ordinary({ part: 'priority', title: 'with a priority', peers: ['bullmq', 'pg-boss', ...graphile] }),
  ordinary({ part: 'tag', title: 'with a tag', peers: [] }),
  ordinary({ part: 'delay', title: 'with a delay that is over', peers: ['bullmq', 'pg-boss', ...graphile] }),
  ordinary({ part: 'failing', title: 'failing once', peers: ['bullmq', 'pg-boss'] }),
  ordinary({ part: 'throttle', title: 'with a throttle', peers: [] }),
];

/** One process fills the queue, another processes it. */
function process({ part, concurrency }) {
  return {
    part,
    title: `process, concurrency ${concurrency}`,
    names: all,
    once: async ({ run }, sizes) => {
      await run('fill', { count: sizes[part] });
      return { [part]: (await run('work', { count: sizes[part], concurrency })).rate };
    },
  };
}

/** Jobs with one option more than plain ones, at concurrency 100, beside the peers that have that option. */
function ordinary({ part, title, peers }) {
  return {
    part,
    title: `process, concurrency 100, ${title}`,
    names: ['longhaul-redis', 'longhaul-sqlite', ...peers],
    once: async ({ run }, { ordinary: count }) => {
      await run('fill', { count, kind: part });
      return { [part]: (await run('work', { count, concurrency: 100, kind: part })).rate };
    },
  };
}
