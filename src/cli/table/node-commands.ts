/** The node itself: serving a home, looking after it. */
import type { CommandSpec } from './command-spec.ts';
import { HOME, JSON_OUTPUT, TARGET } from './command-spec.ts';

export const NODE_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'serve',
    usage: ['[--home FOLDER] [--port N] [--listen ADDRESS]… [--store ADDRESS]'],
    summary: 'work the queues of a home folder and answer HTTP until told to stop',
    about:
      'Each executable file in FOLDER/queues is a queue of that name. The folder is made on the first run.\nTERM or Ctrl-C stops it; running scripts go on, and the next serve takes them up. HUP takes up changed settings.\nEach option can also be said in the environment (LONGHAUL_PORT, LONGHAUL_LISTEN, …) and in FOLDER/node.json.',
    options: {
      ...HOME,
      store: {
        type: 'text',
        value: 'ADDRESS',
        about: 'redis://…, redis+sentinel://… or another folder instead of the home; else LONGHAUL_STORE',
      },
      port: { type: 'text', value: 'N', about: 'the TCP port; 3333 by default, 0 for any that is free' },
      listen: {
        type: 'list',
        value: 'ADDRESS',
        about: 'where to listen instead of 127.0.0.1 and ::1; beyond this machine only with a token',
      },
      strict: { type: 'flag', about: 'refuse a store whose settings weaken its promises' },
      'require-token': {
        type: 'flag',
        about: 'let nobody in without a token, also on this machine; the socket needs none',
      },
      'log-format': {
        type: 'text',
        value: 'FORMAT',
        completes: ['pretty', 'json'],
        about: 'pretty or json; pretty on a terminal, else json',
      },
    },
    examples: [{ line: 'longhaul serve --home ./longhaul', says: 'serve the home ./longhaul' }],
    load: async () => (await import('../daemon/serve.ts')).serve,
  },
  {
    name: 'nodes',
    usage: ['', 'drain NODE [--wait]', 'resume NODE', 'forget NODE'],
    summary: 'list the nodes that share the store; have one begin nothing more, or go on; forget one that is gone',
    about:
      'NODE is its name, its id or the beginning of that. One that drains begins nothing more, also after a restart: what waits\ngoes to other nodes, what runs ends. Forget only what will not come back: what it alone held is lost.',
    options: {
      wait: { type: 'flag', about: 'with drain: until nothing of it runs any more' },
      ...JSON_OUTPUT,
      ...TARGET,
    },
    examples: [{ line: 'longhaul nodes', says: 'who is there, how loaded, and who is gone' }],
    load: async () => (await import('../commands/node/nodes.ts')).nodes,
  },
  {
    name: 'doctor',
    usage: ['[--deep] [--scrub] [--json]'],
    summary: 'look for what is wrong with a home, its store and its machine, and say what to do',
    about: 'Changes nothing. Exits 0 when all is well, 1 with warnings, 2 with errors.',
    options: {
      deep: { type: 'flag', about: 'also read every job of a SQLite store and compare it with its checksums' },
      scrub: { type: 'flag', about: 'also read every attachment and compare it with its hash' },
      ...JSON_OUTPUT,
      ...TARGET,
    },
    examples: [
      { line: 'longhaul doctor', says: 'looks at ./longhaul' },
      { line: 'longhaul doctor --deep --scrub --json', says: 'looks at every byte, for a program' },
    ],
    load: async () => (await import('../commands/node/doctor.ts')).doctor,
  },
  {
    name: 'backup',
    usage: ['--to FOLDER [--logs]'],
    summary: 'copy a home to another folder, also while its node runs',
    about: 'Jobs, queues, settings and attachments, as they are at one moment, with a list of hashes to check them by.',
    options: {
      to: { type: 'text', value: 'FOLDER', completes: 'folder', about: 'a new folder for the copy' },
      logs: { type: 'flag', about: 'also what the attempts printed' },
      ...HOME,
    },
    examples: [{ line: 'longhaul backup --to backups/monday', says: 'copies ./longhaul' }],
    load: async () => (await import('../commands/node/backup.ts')).backup,
  },
  {
    name: 'restore',
    usage: ['--from FOLDER --home NEW'],
    summary: 'make a home from a backup',
    about:
      'Every file is compared with its hash. Jobs that ran when the backup was made wait again, at the front; what an\nearlier attempt of them still wants to say is refused.',
    options: {
      from: { type: 'text', value: 'FOLDER', completes: 'folder', about: 'what longhaul backup made' },
      ...HOME,
    },
    examples: [{ line: 'longhaul restore --from backups/monday --home restored', says: 'makes the home ./restored' }],
    load: async () => (await import('../commands/node/restore.ts')).restore,
  },
];
