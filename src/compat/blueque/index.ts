/** What `import … from 'longhaul/blueque'` gives. */
export type { ClientOptions } from './client.ts';
export { Client } from './client.ts';
export { ForkingRunner } from './forking-runner.ts';
export type { Listener } from './listener.ts';
export type { Processor } from './processor.ts';
export type { Queue } from './queue.ts';
export type { Task, TaskStatus } from './task.ts';
