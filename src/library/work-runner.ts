/** The runner of a worker: calls the handler in this process, or runs its module in isolated processes or threads. */
import type { RunningJob } from '../core/job/job.ts';
import type { QueueSettings } from '../core/settings/settings.ts';
import type { AttemptRunner } from '../worker/attempt/run-outcome.ts';
import type { Connection } from './connection.ts';
import type { CheckedIsolateOptions, IsolationPlan } from './isolation/isolation-plan.ts';
import { isolationPlan, refuseIsolateOptions } from './isolation/isolation-plan.ts';
import type { Isolation } from './isolation/open-isolation.ts';
import type { HandlerHost } from './run-handler.ts';
import { runHandler } from './run-handler.ts';
import type { WorkEvent, WorkPlan } from './work.ts';

export interface WorkRunner {
  readonly run: AttemptRunner;
  /** It ends a cancelled attempt itself, and verifies that nothing of it is left. */
  readonly enforcesStop: boolean;
  settingsFor(queue: string): QueueSettings;
  /** Prepares the runner before the first claim; null when nothing has to be prepared. */
  readonly open: (() => Promise<void>) | null;
  /** Kills what it runs outside of this thread. */
  kill(): void;
  /** Resolves when nothing of it is left. */
  close(): Promise<void>;
}

type CheckedOptions = CheckedIsolateOptions & { readonly onEvent?: (event: WorkEvent) => void };

/** How long the processes of a handler may take to die after their grace. The worker waits for them as for a script. */
const KILL_TIME_MS = 15_000;

export function createRunner<Data, Result>(
  connection: Connection,
  { handler, schema }: WorkPlan<Data, Result>,
  options: CheckedOptions,
): WorkRunner {
  const { store, home, files, settings } = connection;
  const { onEvent } = options;
  const onLog = (job: RunningJob, line: string): void => onEvent?.({ type: 'log', job, line });
  const onTrouble = (what: string, error: unknown): void => onEvent?.({ type: 'trouble', what, error });
  const host: HandlerHost<Data> = { schema, home, store, files, onLog, onTrouble };
  if (handler instanceof URL) {
    const graceMsOf = (queue: string): number => settings.at(queue).graceMs;
    const plan = isolationPlan(handler, options, { ...host, graceMsOf });
    return isolatedRunner(plan, (queue) => settings.at(queue));
  }
  refuseIsolateOptions(options);
  const run = { ...host, handler };
  return {
    run: (job, context) => runHandler(run, job, context),
    enforcesStop: false,
    settingsFor: (queue) => settings.at(queue),
    open: null,
    kill: () => undefined,
    close: async () => undefined,
  };
}

function isolatedRunner(plan: IsolationPlan, settingsFor: (queue: string) => QueueSettings): WorkRunner {
  const withKillTime = killTimeAdder();
  let opening: Promise<Isolation> | null = null;
  let isolation: Isolation | null = null;
  return {
    run: (job, context) =>
      isolation === null ? Promise.reject(new Error('the handler is not loaded')) : isolation.run(job, context),
    enforcesStop: true,
    settingsFor: (queue) => withKillTime(settingsFor(queue)),
    async open() {
      opening = loadIsolation(plan);
      isolation = await opening;
    },
    kill: () => isolation?.kill(),
    async close() {
      // A module that cannot be used was reported by `open`, and left nothing.
      const opened = await opening?.catch(() => null);
      await opened?.close();
    },
  };
}

async function loadIsolation(plan: IsolationPlan): Promise<Isolation> {
  const { openIsolation } = await import('./isolation/open-isolation.ts');
  return openIsolation(plan);
}

/** Returns a function that extends the grace of settings. It is called often, so it remembers its answers. */
function killTimeAdder(): (settings: QueueSettings) => QueueSettings {
  const extended = new WeakMap<QueueSettings, QueueSettings>();
  return (settings) => {
    const known = extended.get(settings);
    if (known !== undefined) return known;
    const longer = { ...settings, graceMs: settings.graceMs + KILL_TIME_MS };
    extended.set(settings, longer);
    return longer;
  };
}
