/** The first page of a node without jobs: how to add one. */
import type { QueueRow } from '../../../src/wire/overview.ts';
import { call } from '../data/call.ts';
import { go, jobPath, queuePath } from '../data/location.ts';
import { useHasRole } from '../data/me.ts';
import { useAction } from '../data/use-action.ts';
import { Button } from '../ui/button.tsx';
import { Command } from '../ui/empty.tsx';
import { ErrorMessage } from '../ui/error-message.tsx';
import { Link } from '../ui/link.tsx';

export function FirstRun({ queues }: { queues: readonly QueueRow[] }) {
  const sample = queues.find(({ name }) => name === 'sample') ?? queues[0];
  return (
    <div class="mx-auto max-w-3xl py-6">
      <h1 class="text-2xl font-semibold tracking-tight">This node is ready. It has no jobs yet.</h1>
      <p class="mt-2 text-soft">Add a job in one of these ways:</p>
      <ol class="mt-6 grid gap-4">
        {useHasRole('submit') && sample !== undefined && <TrySample queue={sample.name} />}
        <li class="panel p-4">
          <h2 class="font-semibold">Run any command</h2>
          <p class="text-soft">
            The command becomes a job: it survives restarts of the node and its whole output is stored.
          </p>
          <Command text="longhaul run -- bash -c 'for i in 1 2 3; do echo step $i; sleep 1; done'" />
        </li>
        <li class="panel p-4">
          <h2 class="font-semibold">Create a queue</h2>
          <p class="text-soft">
            An executable file in the folder <code class="font-mono">queues/</code> of the data directory is a queue. It
            receives the data of a job on standard input.
          </p>
          <Command text={'longhaul queue'} />
        </li>
      </ol>
    </div>
  );
}

function TrySample({ queue }: { queue: string }) {
  const { error, run } = useAction();
  const start = async () => {
    const body = { queue, data: { from: 'the first page' } };
    const { id } = await call<{ id: string }>('api/jobs', { method: 'POST', body });
    go(jobPath(queue, id));
  };
  return (
    <li class="panel p-4">
      <h2 class="font-semibold">
        Try the queue{' '}
        <Link to={queuePath(queue)} class="link">
          {queue}
        </Link>
      </h2>
      <p class="text-soft">A harmless script that prints a few coloured lines, reports progress and takes a minute.</p>
      <div class="mt-3 flex flex-wrap items-center gap-3">
        <Button kind="main" onClick={() => void run(start)}>
          Start a job
        </Button>
        <span class="text-soft">or</span>
        <Command text={`longhaul add ${queue}`} />
      </div>
      <div class="mt-2">
        <ErrorMessage error={error} />
      </div>
    </li>
  );
}
