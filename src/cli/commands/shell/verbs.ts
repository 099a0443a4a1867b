/** The words that a script can say to its node, as `longhaul report` takes them. */
export const VERBS = [
  'run',
  'done',
  'err',
  'resend',
  'relayed',
  'dup',
  'progress',
  'checkpoint',
  'result',
  'attach',
  'tag',
  'group',
] as const;
