/** The fd 3 verbs that `longhaul report` accepts. */
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
  'sleep',
  'wait',
] as const;
