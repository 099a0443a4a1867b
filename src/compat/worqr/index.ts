/** What `import … from 'longhaul/worqr'` gives. */
export type { WorqrProcess } from './worqr.ts';
export { Worqr } from './worqr.ts';
export type { WorqrEventType } from './worqr-events.ts';
export type { WorqrAddress, WorqrOptions } from './worqr-options.ts';
