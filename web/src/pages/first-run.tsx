/** An empty node: what to do next, with the commands. */
import type { QueueRow } from '../../../src/wire/overview.ts';
import { go, jobPath, queuePath } from '../data/address.ts';
import { call } from '../data/call.ts';
import { useMay } from '../data/me.ts';
import { useAct } from '../data/use-act.ts';
import { Button } from '../ui/button.tsx';
import { Command } from '../ui/empty.tsx';
import { Link } from '../ui/link.tsx';
import { Trouble } from '../ui/trouble.tsx';

export function FirstRun({ queues }: { queues: readonly QueueRow[] }) {
  const sample = queues.find(({ name }) => name === 'sample') ?? queues[0];
  return (
    <div class="mx-auto max-w-3xl py-6">
      <h1 class="text-2xl font-semibold tracking-tight">This node is ready, and has nothing to do yet.</h1>
      <p class="mt-2 text-soft">Ways to give it work:</p>
      <ol class="mt-6 grid gap-4">
        {useMay('submit') && sample !== undefined && <TrySample queue={sample.name} />}
        <li class="panel p-4">
          <h2 class="font-semibold">Run any command</h2>
          <p class="text-soft">It is queued, survives restarts, and its output is kept from the first byte.</p>
          <Command text="longhaul run -- bash -c 'for i in 1 2 3; do echo step $i; sleep 1; done'" />
        </li>
        <li class="panel p-4">
          <h2 class="font-semibold">Make a queue of your own</h2>
          <p class="text-soft">
            An executable file in the folder <code class="font-mono">queues/</code> of the home is a queue of that name.
            Its job's data come on standard input.
          </p>
          <Command text={'longhaul queue'} />
        </li>
      </ol>
    </div>
  );
}

function TrySample({ queue }: { queue: string }) {
  const { error, act } = useAct();
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
      <p class="text-soft">
        A harmless script that prints a few coloured lines, reports its progress and takes a minute.
      </p>
      <div class="mt-3 flex flex-wrap items-center gap-3">
        <Button kind="main" onClick={() => void act(start)}>
          Start a job
        </Button>
        <span class="text-soft">or</span>
        <Command text={`longhaul add ${queue}`} />
      </div>
      <div class="mt-2">
        <Trouble error={error} />
      </div>
    </li>
  );
}
