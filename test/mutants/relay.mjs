/** Seeded bugs of the relay from and to hosts of RQ. */
const toRq = ['test/relay/rq-host.test.ts'];
const fromRq = ['test/compat/rq-wire.test.ts'];

export const relay = [
  {
    name: 'relay to RQ: the message is committed before its files are sent',
    file: 'src/node/relay/send-to-rq.ts',
    find: "_method: 'prep' });",
    replace: "_method: 'commit' });",
    suites: toRq,
  },
  {
    name: 'relay to RQ: a message that another client committed without its file counts as relayed',
    file: 'src/node/relay/send-to-rq.ts',
    find: "state === 'gone' || (state === 'committed' && known.isComplete !== true)",
    replace: "state === 'gone'",
    suites: toRq,
  },
  {
    name: 'relay to RQ: a lost answer to a commit delivers twice',
    file: 'src/node/relay/send-to-rq.ts',
    find: "if (word === 'fail' && text === 'msg not in prep') return 'committed';",
    replace: "if (word === 'fail' && text === 'msg not in prep') return 'gone';",
    suites: toRq,
  },
  {
    name: 'relay to RQ: the count does not grow',
    file: 'src/node/relay/rq-message.ts',
    find: 'count: before + hops',
    replace: 'count: before',
    suites: toRq,
  },
  {
    name: 'relay from RQ: a relay that begins again delivers twice',
    file: 'src/compat/rq/rq-relayed-in.ts',
    find: 'const repeats = (await recallCommitted(store, first, now())) !== null;',
    replace: 'const repeats = false;',
    and: { find: 'const first = idOf(queue, origin);', replace: 'const first = job.id ?? idOf(queue, origin);' },
    suites: fromRq,
  },
  {
    name: 'relay from RQ: copies of one message are taken for repetitions',
    file: 'src/compat/rq/rq-relayed-in.ts',
    find: 'q\\/relay\\/[^\\s/]+$/i',
    replace: 'q\\/[^/]+\\/[^\\s/]+$/i',
    suites: fromRq,
  },
  {
    name: 'relay from RQ: a committed message is committed again',
    file: 'src/compat/rq/rq-message-routes.ts',
    find: "if (job.state !== 'draft') return notFound();",
    replace: '',
    suites: fromRq,
  },
];
