/** Commands for shells and scripts. */

import { VERBS } from '../commands/shell/verbs.ts';
import type { CommandSpec } from './command-spec.ts';
import { TARGET } from './command-spec.ts';

export const SHELL_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'report',
    usage: ['VERB [TEXT]…'],
    summary: 'report progress, a result or an outcome from inside a script',
    description: `Works only in a script that Longhaul runs. Verbs: ${VERBS.join(', ')}.`,
    options: {},
    examples: [
      { line: `longhaul run -- sh -c 'longhaul report progress 40 first pass'`, description: 'report progress' },
    ],
    completes: VERBS,
    parsesOwnArgs: true,
    load: async () => {
      const { report } = await import('../commands/shell/report.ts');
      return ({ argv }) => report(argv);
    },
  },
  {
    name: 'step',
    usage: ['NAME [OPTION]… -- COMMAND…', '--sleep TIME', '--event NAME [--timeout TIME]'],
    summary: 'run a command once per job, sleep, or wait for an event from inside a script',
    description:
      'Works only in a script that Longhaul runs. A command that succeeded does not run again in a later attempt: its\noutput is printed, and its exit status returned. A failed command runs again in the next attempt.\nExit status: that of COMMAND, 124 after a timeout, 75 if the script must exit because it waits, 1 if the step could\nnot be kept.',
    options: {
      retries: { type: 'text', value: 'N', description: 'run a failed command again, up to N times (default: 0)' },
      backoff: { type: 'text', value: 'TIME', description: 'delay before that, or delays: 1s,10s,1m (default: 1s)' },
      timeout: { type: 'text', value: 'TIME', description: 'how long one run, or the wait for an event, may take' },
      accept: { type: 'text', value: 'STATUS', description: 'exit statuses to keep besides 0: 1,3' },
      sleep: { type: 'text', value: 'TIME', description: 'sleep; more than 5 s hold no slot' },
      event: { type: 'text', value: 'NAME', description: 'wait for an event of longhaul notify, and print its data' },
    },
    examples: [
      { line: `longhaul run -- longhaul step cut -- sh -c 'echo done'`, description: 'run a command once per job' },
    ],
    load: async () => (await import('../commands/shell/step.ts')).step,
  },
  {
    name: 'rq',
    usage: ['COMMAND [--KEY VALUE]…'],
    summary: 'run a command of RQ, with its flags, output and exit codes',
    description:
      'Commands: sendmesg, prepmesg, single_que, attachmesg, commitmesg, statusmesg, state, statuscountmesg,\nattachstatusmesg, clone, check. The program longhaul-rq does the same and can be linked as rq.',
    options: {},
    examples: [
      { line: 'longhaul rq sendmesg --dest films --param1 hello', description: 'print ok and the id of the message' },
    ],
    parsesOwnArgs: true,
    load: async () => (await import('../commands/shell/rq.ts')).rq,
  },
  {
    name: 'completion',
    usage: ['bash | zsh'],
    summary: 'print a shell completion script',
    description:
      'For bash, add to ~/.bashrc: eval "$(longhaul completion bash)"\nFor zsh, add to ~/.zshrc after compinit: eval "$(longhaul completion zsh)"',
    options: { ...TARGET },
    examples: [
      { line: 'eval "$(longhaul completion bash)"', description: 'complete commands, queues and jobs with Tab' },
    ],
    completes: ['bash', 'zsh'],
    load: async () => (await import('../commands/shell/completion.ts')).completion,
  },
  {
    name: 'help',
    usage: ['[COMMAND]'],
    summary: 'show help for all commands or one',
    options: {},
    examples: [{ line: 'longhaul help run', description: 'show help for run' }],
    completes: 'command',
    load: async () => (await import('../commands/shell/help.ts')).help,
  },
];
