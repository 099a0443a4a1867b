/** For shells and for scripts. */

import { VERBS } from '../commands/shell/verbs.ts';
import type { CommandSpec } from './command-spec.ts';
import { TARGET } from './command-spec.ts';

export const SHELL_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'report',
    usage: ['VERB [TEXT]…'],
    summary: 'say something to the node from inside a script',
    about: `Works in a script that Longhaul runs. Verbs: ${VERBS.join(', ')}.`,
    options: {},
    examples: [{ line: `longhaul run -- sh -c 'longhaul report progress 40 first pass'`, says: 'tells how far it is' }],
    completes: VERBS,
    readsWords: true,
    load: async () => {
      const { report } = await import('../commands/shell/report.ts');
      return ({ words }) => report(words);
    },
  },
  {
    name: 'rq',
    usage: ['COMMAND [--KEY VALUE]…'],
    summary: 'the command line of RQ, with its flags, output and exit codes',
    about:
      'Commands: sendmesg, prepmesg, single_que, attachmesg, commitmesg, statusmesg, state, statuscountmesg,\nattachstatusmesg, clone, check. The program longhaul-rq is the same and can be linked as rq.',
    options: {},
    examples: [
      { line: 'longhaul rq sendmesg --dest films --param1 hello', says: 'prints ok and the id of the message' },
    ],
    readsWords: true,
    load: async () => (await import('../commands/shell/rq.ts')).rq,
  },
  {
    name: 'completion',
    usage: ['bash | zsh'],
    summary: 'print the completion for a shell',
    about:
      'For bash, put into ~/.bashrc: eval "$(longhaul completion bash)"\nFor zsh, put into ~/.zshrc after compinit: eval "$(longhaul completion zsh)"',
    options: { ...TARGET },
    examples: [{ line: 'eval "$(longhaul completion bash)"', says: 'Tab completes commands, queues and jobs' }],
    completes: ['bash', 'zsh'],
    load: async () => (await import('../commands/shell/completion.ts')).completion,
  },
  {
    name: 'help',
    usage: ['[COMMAND]'],
    summary: 'show all commands, or one',
    options: {},
    examples: [{ line: 'longhaul help run', says: 'how to use run' }],
    completes: 'command',
    load: async () => (await import('../commands/shell/help.ts')).help,
  },
];
