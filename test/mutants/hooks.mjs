/** Bugs in what hooks write, in the core and in the scripts of the Redis store. */
const memory = ['test/contract/memory.test.ts', 'test/model/memory.test.ts'];
const redis = ['test/contract/redis.test.ts', 'test/model/redis.test.ts'];
const prelude = 'src/stores/redis/lua/prelude.lua';

export const hooks = [
  {
    name: 'hooks: an end is told only when somebody waits for the job',
    file: 'src/core/operations/apply.ts',
    find: '  tellHooks(table, after, row);',
    replace: '  if (after.dependents > 0) tellHooks(table, after, row);',
    suites: memory,
  },
  {
    name: 'hooks: a later call does not wait for an earlier one',
    file: 'src/core/operations/outbox.ts',
    find: 'const parents = before === undefined ? null : { of: 1, open: 1, bad: 0 };',
    replace: 'const parents = null;',
    and: { find: "    table.setEdge(before, job, 'open');\n", replace: '' },
    suites: memory,
  },
  {
    name: 'hooks: a cancel of several forgets what one of them has put in line behind another',
    file: 'src/core/operations/operate.ts',
    find: '    const child = table.get(id);',
    replace: '    const child = along.find((each) => each.id === id);',
    suites: memory,
  },
  {
    name: 'hooks: a failure that several hear of forgets what one of them has put in line behind another',
    file: 'src/core/operations/dependents.ts',
    find: 'table.get(listed.id) ?? listed',
    replace: 'listed',
    suites: memory,
  },
  {
    name: 'hooks: leases lost together forget what one of them has put in line behind another',
    file: 'src/core/operations/loss.ts',
    find: 'const job = table.get(id);',
    replace: 'const job = jobs.find((each) => each.id === id);',
    suites: memory,
  },
  {
    name: 'hooks: an ended job whose tags are changed ends again',
    file: 'src/core/hook.ts',
    find: " && event !== 'changed'",
    replace: '',
    suites: memory,
  },
  {
    name: 'hooks: a call tells of itself',
    file: 'src/core/hook.ts',
    find: '  if (queue === HOOKS_QUEUE) return NONE;\n',
    replace: '',
    suites: memory,
  },
  {
    name: 'hooks: a step of progress is told again when the progress comes back to it',
    file: 'src/core/operations/outbox.ts',
    find: 'if (table.get(id) === undefined) addInLine(table, hookJob(after, hook, news, id), now);',
    replace: 'addInLine(table, hookJob(after, hook, news, freeId(table, after, news)), now);',
    suites: memory,
  },
  {
    name: 'redis: the everyday settlement passes over the hooks of a queue',
    file: 'src/stores/redis/lua/swift.lua',
    find: 'or (swift.hooked and swift.isHooked(queue)) then return false end',
    replace: 'then return false end',
    suites: redis,
  },
  {
    name: 'redis: the hooks of a queue are forgotten with another',
    file: prelude,
    find: 'names = isHooked and names .. queue',
    replace: "names = isHooked and ' ' .. queue",
    suites: redis,
  },
  {
    name: 'redis: a call does not know what it has put in line itself',
    file: prelude,
    find: 'for i = 1, births and n or 0 do ids[i] =',
    replace: 'for i = 1, births and 0 or 0 do ids[i] =',
    suites: redis,
  },
  {
    name: 'redis: a call in line does not take the key over',
    file: prelude,
    find: '    outbox.takeKey(address, id)\n    rare.register',
    replace: '    keys.take(new)\n    rare.register',
    suites: redis,
  },
  {
    name: 'a hook is signed without its time',
    file: 'src/node/hooks/sign-hook.ts',
    find: 'const content = `${id}.${timestamp}.${body}`;',
    replace: 'const content = `${id}.${body}`;',
    suites: ['src/node/hooks/sign-hook.test.ts'],
  },
];
