/**
 * The life of an isolated process or thread: it imports the module, then runs one job at a time until the worker ends it.
 *
 *     loading ──▶ idle ──run──▶ running ──outcome──▶ idle
 *                   │              └─abort─▶ stopping ──outcome──▶ ended
 *                   └─end──────────────────────────────────────────▶ ended
 */
import { inContextOf } from '../../telemetry/traced-step.ts';
import type { AttemptOutcome } from '../../worker/attempt/run-outcome.ts';
import { failedOutcome } from '../../worker/attempt/run-outcome.ts';
import type { StopReason } from '../../worker/attempt/stop-reason.ts';
import { AttemptAborted } from '../../worker/attempt/stop-reason.ts';
import type { Handler } from '../active-job.ts';
import { activeJob } from '../active-job.ts';
import { callUserHandler } from '../call-user-handler.ts';
import type { CallMessage } from './call-link.ts';
import { CallLink } from './call-link.ts';
import type { FromIsolate, ToIsolate } from './messages.ts';
import { NoHandler, problemOf } from './module-problem.ts';
import { remotePort } from './remote-port.ts';

/** What a process and a thread do in their own way. */
export interface IsolateHost {
  send(message: FromIsolate): void;
  log(line: string): void;
  /** Sends the outcome of a job, after its output and its calls. `hasCalled`: the job has sent calls. */
  sendOutcome(outcome: AttemptOutcome, sent: { readonly hasCalled: boolean }): void;
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
  let running: { readonly signal: LazySignal; readonly link: CallLink } | null = null;

  const run = async ({ run: number, job, data }: Extract<ToIsolate, { kind: 'run' }>): Promise<void> => {
    const signal = new LazySignal();
    let hasCalled = false;
    const send = (message: CallMessage): void => {
      hasCalled = true;
      host.send(message);
    };
    const link = new CallLink({ run: number, target: {}, send });
    running = { signal, link };
    const port = remotePort(link, { signal: () => signal.get(), log: (line) => host.log(line) });
    const value: unknown = 'text' in data ? JSON.parse(data.text) : data.value;
    const call = () => callUserHandler(handler as Handler, activeJob(job, value, port));
    const outcome = await inContextOf(job.policy.traceparent, call).catch(failedOutcome);
    running = null;
    link.end();
    host.sendOutcome(outcome, { hasCalled });
    if (signal.isAborted) host.exit();
  };

  const stop = (reason: StopReason): void => {
    if (running === null) host.exit();
    else running.signal.abort(reason);
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

/** The signal of a job, created on first use: most short handlers never read it. */
class LazySignal {
  #controller: AbortController | null = null;
  #reason: StopReason | null = null;

  get isAborted(): boolean {
    return this.#reason !== null;
  }

  get(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#reason !== null) this.#controller.abort(new AttemptAborted(this.#reason));
    }
    return this.#controller.signal;
  }

  abort(reason: StopReason): void {
    this.#reason ??= reason;
    this.#controller?.abort(new AttemptAborted(this.#reason));
  }
}

async function load(address: string): Promise<Handler> {
  const module = (await import(address)) as { readonly default?: unknown };
  if (typeof module.default === 'function') return module.default as Handler;
  throw new NoHandler(module.default);
}
