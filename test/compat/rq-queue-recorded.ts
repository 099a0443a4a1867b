/**
 * What RQ 1.18.3 (brightroll/rq, commit d417f5f) answers to the conversations of rq-queue-conversation.ts, recorded on
 * Ruby 3.1 with the shim of this folder, and checked against a real RQ by
 *
 *     RQ_CHECKOUT=~/rq npx vitest run --project compat rq-record
 */
import type { Answers } from './rq-queue-conversation.ts';

export const QUEUES: Answers = {
  'own queues': ['/q/cleaner.txt', '/q/relay.txt', '/q/rq_router.txt', '/q/webhook.txt'],
  'status of the manager': 'OPERATIONAL',
  'status in the page': true,
  create: ['queue created - awesome'],
  'config.json': {
    name: 'talk',
    script: './code/talk.sh',
    num_workers: 2,
    exec_prefix: '',
    env_vars: {},
    coalesce_params: [1, 3],
    blocking_params: [2],
    schedule: [],
  },
  config: {
    name: 'talk',
    script: './code/talk.sh',
    num_workers: 2,
    exec_prefix: '',
    env_vars: {},
    coalesce_params: [1, 3],
    blocking_params: [2],
    schedule: [],
  },
  files: ['config.json', 'queue.pid', 'queue.sock'],
  'create again': ['already created'],
  'create "bad que"': ['queue name has invalid characters'],
  'create "bad.que"': ['queue name has invalid characters'],
  'create "bad/que"': ['queue name has invalid characters'],
  'create ""': ['queue name has invalid characters'],
  'link without a name': ['json config is missing name field'],
  'link without a script': ['json config is missing script field'],
  'link with no worker': ['json config has invalid num_workers field (out of range 1..128)'],
  'link with a dot in its name': ['queue name has invalid characters'],
  'link of a good file': ['queue created - awesome'],
  schedule: ['*/5 * * * *', 'tick'],
  'link of a queue that runs': ['queue is already running'],
  'delete of no queue': ['no such queue'],
  deleted: true,
};

export const STATES: Answers = {
  up: ['status: UP\nuptime: N\n\nprep: 0\nque: 0\nrun: 0\n\ndone: 0\nerr: 0\nrelayed: 0', []],
  'form pause': ['status: PAUSE\nuptime: N\n\nprep: 0\nque: 0\nrun: 0\n\ndone: 0\nerr: 0\nrelayed: 0', ['talk.pause']],
  'form down': ['status: DOWN', ['talk.down', 'talk.pause']],
  'form up': ['status: PAUSE\nuptime: N\n\nprep: 0\nque: 0\nrun: 0\n\ndone: 0\nerr: 0\nrelayed: 0', ['talk.pause']],
  'form resume': ['status: UP\nuptime: N\n\nprep: 0\nque: 0\nrun: 0\n\ndone: 0\nerr: 0\nrelayed: 0', []],
  'touch talk.pause': [
    'status: PAUSE\nuptime: N\n\nprep: 0\nque: 0\nrun: 0\n\ndone: 0\nerr: 0\nrelayed: 0',
    ['talk.pause'],
  ],
  'touch talk.down': ['status: DOWN', ['talk.down', 'talk.pause']],
  'rm talk.down': [
    'status: PAUSE\nuptime: N\n\nprep: 0\nque: 0\nrun: 0\n\ndone: 0\nerr: 0\nrelayed: 0',
    ['talk.pause'],
  ],
  'rm talk.pause': ['status: UP\nuptime: N\n\nprep: 0\nque: 0\nrun: 0\n\ndone: 0\nerr: 0\nrelayed: 0', []],
  'two slashes': 'status: UP',
  'no limit': [],
};

export const FORM: Answers = {
  plain: [
    'mesg_dest shown',
    'mesg_param1 shown',
    'mesg_param2 shown',
    'mesg_param3 shown',
    'mesg_param4 shown',
    'mesg_post_run_webhook shown',
    'mesg_src shown',
    'mesg_status shown',
    'mesg_submit shown',
  ],
  changed: [
    'mesg_dest hidden',
    'mesg_param1 shown',
    'mesg_param2 hidden',
    'mesg_param3 hidden',
    'mesg_param4 hidden',
    'mesg_post_run_webhook hidden',
    'mesg_src hidden',
    'mesg_status hidden',
    'mesg_submit shown',
  ],
  label: 'Cluster',
  note: 'its id',
};

export const COMMAND_LINE: Answers = {
  prepmesg: [0, 'ok <address>\n'],
  'state of prep': [0, 'ok prep\n'],
  'attachstatusmesg without a file': [0, 'ok 0\n'],
  'attachmesg with a relative path': [
    0,
    'ok b1946ac92492d2347c6235b4d2611184-Attached successfully for Message: <address> attachment\n',
  ],
  'attachmesg with a name': [
    0,
    'ok b1946ac92492d2347c6235b4d2611184-Attached successfully for Message: <address> attachment\n',
  ],
  commitmesg: [0, 'ok msg commited\n'],
  'commitmesg again': [1, 'fail cannot find message\n'],
  'attachmesg after the commit': [1, 'fail cannot find message for Message: <address> attachment\n'],
  'state of a done message': [0, 'ok done\n'],
  statusmesg: [0, 'ok done - all of it\n'],
  statuscountmesg: [0, 'ok 0\n'],
  'prepmesg of one file': [0, 'ok <address>\n'],
  'attachmesg of one file': [
    0,
    'ok b1946ac92492d2347c6235b4d2611184-Attached successfully for Message: <address> attachment\n',
  ],
  attachstatusmesg: [0, 'ok 1\nnote.txt b1946ac92492d2347c6235b4d2611184 6 <path>\n'],
  'clone of a message in prep': [1, 'fail cannot clone message in prep state\n'],
  clone: [0, 'ok <address>\n'],
  'state of no message': [1, 'fail msg not found\n'],
  'statusmesg of no message': [1, 'fail msg not found\n'],
  'statuscountmesg of no message': [1, 'fail msg not found\n'],
  'attachstatusmesg of no message': [1, 'fail msg not found\n'],
  'commitmesg of no message': [1, 'fail cannot find message\n'],
  'clone of no message': [1, 'fail msg not found\n'],
  'sendmesg without a dest': [1, ''],
  'a word that RQ does not know': [1, ''],
};
