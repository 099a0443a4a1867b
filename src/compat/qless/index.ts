/** What `import … from 'longhaul/qless'` gives. */
export type { DocumentJob, DocumentStats } from './document-job.ts';
export type { Qless, QlessOptions } from './qless.ts';
export { openQless } from './qless.ts';
export type { QlessListener } from './qless-events.ts';
export type { QlessJob } from './qless-job.ts';
