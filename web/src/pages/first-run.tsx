/** The first page of a node without jobs: how to add one. */
import type { QueueRow } from '../../../src/wire/overview.ts';
import { CliCommand } from '../command/cli-command.tsx';
import { call } from '../data/call.ts';
import { go, jobPath, queuePath } from '../data/location.ts';
import { useHasRole, useMe } from '../data/me.ts';
import { useAction } from '../data/use-action.ts';
import { exampleQueue } from '../queues/example-queue.ts';
import { Button } from '../ui/button.tsx';
import { ErrorMessage } from '../ui/error-message.tsx';
import { Link } from '../ui/link.tsx';

const SAMPLE = 'sample';
const COMMAND = 'for i in 1 2 3; do echo step $i; sleep 1; done';

export function FirstRun({ queues }: { queues: readonly QueueRow[] }) {
  const queue = exampleQueue(queues);
  const me = useMe();
  return (
    <div class="mx-auto max-w-3xl py-6">
      <h1 class="text-2xl font-semibold tracking-tight">
        {me?.hasNode === false ? 'There are no jobs yet.' : 'This node is ready. It has no jobs yet.'}
      </h1>
      <p class="mt-2 text-soft">Add a job in one of these ways:</p>
      <ol class="mt-6 grid gap-4">
        {useHasRole('submit') && queue === SAMPLE && <TrySample />}
        {queue !== null && queue !== SAMPLE && <AddToQueue queue={queue} />}
        {/* The socket of the data directory admits the user as admin, who may create the queue of commands. */}
        {me?.home != null && (
          <li class="panel p-4">
            <h2 class="font-semibold">Run any command</h2>
            <p class="text-soft">
              The command becomes a job: it survives restarts of the node and its whole output is stored.
            </p>
            <CliCommand args={['run', '--', 'bash', '-c', COMMAND]} />
          </li>
        )}
        <li class="panel p-4">
          <h2 class="font-semibold">Create a queue</h2>
          <p class="text-soft">
            An executable file in the folder <code class="font-mono break-all">{queuesFolder(me?.home)}</code> is a
            queue. It receives the data of a job on standard input. A program that calls{' '}
            <code class="font-mono">work()</code> of the library handles the jobs of a queue without a file:
          </p>
          <CliCommand args={['queue', 'hello', '--create']} />
        </li>
      </ol>
    </div>
  );
}

const queuesFolder = (home: string | null | undefined): string =>
  home == null ? 'queues/ of the data directory' : `${home}/queues/`;

function AddToQueue({ queue }: { queue: string }) {
  return (
    <li class="panel p-4">
      <h2 class="font-semibold">
        Add a job to the queue{' '}
        <Link to={queuePath(queue)} class="link underline">
          {queue}
        </Link>
      </h2>
      <p class="text-soft">On its page with New job, or from a shell:</p>
      <CliCommand args={['add', queue]} />
    </li>
  );
}

function TrySample() {
  const { error, run } = useAction();
  const start = async () => {
    const body = { queue: SAMPLE, data: { from: 'the first page' } };
    const { id } = await call<{ id: string }>('api/jobs', { method: 'POST', body });
    go(jobPath(SAMPLE, id));
  };
  return (
    <li class="panel p-4">
      <h2 class="font-semibold">
        Try the queue{' '}
        <Link to={queuePath(SAMPLE)} class="link underline">
          {SAMPLE}
        </Link>
      </h2>
      <p class="text-soft">A harmless script that prints a few coloured lines, reports progress and takes a minute.</p>
      <div class="mt-3 flex flex-wrap items-center gap-3">
        <Button kind="main" onClick={() => void run(start)}>
          Start a job
        </Button>
        <span class="text-soft">or</span>
        <CliCommand args={['add', SAMPLE]} />
      </div>
      <div class="mt-2">
        <ErrorMessage error={error} />
      </div>
    </li>
  );
}
