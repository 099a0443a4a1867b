/** The thread of a store's engine: opens the file, serves its clients until one sends `close`, and exits. */
import type { MessagePort } from 'node:worker_threads';
import { workerData } from 'node:worker_threads';
import type { FromEngine } from './messages.ts';
import { toThrown } from './messages.ts';
import type { EngineOptions } from './open-engine.ts';
import { openEngine } from './open-engine.ts';
import { explain } from './sqlite-problem.ts';

const { options, port } = workerData as { readonly options: EngineOptions; readonly port: MessagePort };
const post = (message: FromEngine): void => port.postMessage(message);

try {
  openEngine(options).join(port);
  post({ kind: 'opened' });
} catch (error) {
  post({ kind: 'failed', problem: toThrown(explain(error, options.path)) });
  port.close();
}
