/**
 * The life of an isolated process or thread: it imports the module, then runs one job at a time until it is told to end.
 *
 *     loading ──▶ idle ──run──▶ running ──outcome──▶ idle
 *                   │              └─abort─▶ stopping ──outcome──▶ ended
 *                   └─end──────────────────────────────────────────▶ ended
 */
import { failedOutcome } from '../../worker/attempt/run-outcome.ts';
import type { StopReason } from '../../worker/attempt/stop-reason.ts';
import { AttemptAborted } from '../../worker/attempt/stop-reason.ts';
import type { Handler } from '../active-job.ts';
import { activeJob } from '../active-job.ts';
import { callHandler } from '../call-handler.ts';
import { CallLink } from './call-link.ts';
import type { FromIsolate, ToIsolate } from './messages.ts';
import { NoHandler, problemOf } from './module-problem.ts';
import { remotePort } from './remote-port.ts';

/** What a process and a thread do in their own way. */
export interface IsolateHost {
  send(message: FromIsolate): void;
  log(line: string): void;
  /** Marks the end of the output of a job. Returns false when it cannot be marked. */
  markOutput(): boolean;
  /** Ends this process or thread, after all messages were sent. */
  exit(): void;
}

export interface ServedHandler {
  receive(message: ToIsolate): void;
  /** Aborts the running job, if there is one; otherwise ends the isolate. */
  stop(reason: StopReason): void;
}

export function serveHandler(address: string, host: IsolateHost): ServedHandler {
  let handler: Handler | null = null;
  let running: { readonly controller: AbortController; readonly link: CallLink } | null = null;

  const run = async ({ run: number, job, data }: Extract<ToIsolate, { kind: 'run' }>): Promise<void> => {
    const controller = new AbortController();
    const link = new CallLink({ run: number, target: {}, send: (message) => host.send(message) });
    running = { controller, link };
    const port = remotePort(link, { signal: () => controller.signal, log: (line) => host.log(line) });
    const value: unknown = 'text' in data ? JSON.parse(data.text) : data.value;
    const outcome = await callHandler(handler as Handler, activeJob(job, value, port)).catch(failedOutcome);
    running = null;
    link.end();
    const isMarked = host.markOutput();
    host.send({ kind: 'outcome', outcome, isMarked });
    if (controller.signal.aborted) host.exit();
  };

  const stop = (reason: StopReason): void => {
    if (running === null) host.exit();
    else running.controller.abort(new AttemptAborted(reason));
  };

  void load(address).then(
    (loaded) => {
      handler = loaded;
      host.send({ kind: 'ready' });
    },
    (error: unknown) => {
      host.send({ kind: 'unusable', problem: problemOf(address, error) });
      host.exit();
    },
  );

  return {
    receive(message) {
      switch (message.kind) {
        case 'run':
          return void run(message);
        case 'call':
        case 'answer':
        case 'refusal':
          return running?.link.receive(message);
        case 'abort':
          return stop(message.reason);
        case 'end':
          return host.exit();
      }
    },
    stop,
  };
}

async function load(address: string): Promise<Handler> {
  const module = (await import(address)) as { readonly default?: unknown };
  if (typeof module.default === 'function') return module.default as Handler;
  throw new NoHandler(module.default);
}
