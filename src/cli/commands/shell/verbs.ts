/** The fd 3 verbs that `longhaul report` accepts. */
export const VERBS = [
  'run',
  'done',
  'err',
  'resend',
  'retry',
  'relayed',
  'dup',
  'progress',
  'checkpoint',
  'result',
  'attach',
  'tag',
  'group',
  'throttle',
  'sleep',
  'wait',
] as const;
