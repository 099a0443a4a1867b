/**
 * Confirms a cancel: lists the live processes of the job, and what happens to them step by step.
 * It changes nothing before the user confirms.
 */
import { useState } from 'preact/hooks';
import type { JobView } from '../../../src/wire/job-view.ts';
import type { JobProcesses } from '../../../src/wire/processes.ts';
import { bytes, span } from '../../../src/wire/spans.ts';
import { useQuery } from '../data/use-query.ts';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';
import { Cell, Table } from '../ui/table.tsx';
import type { Dependents } from './dependents-choice.tsx';
import { DependentsChoice } from './dependents-choice.tsx';
import { treeOf } from './process-tree.ts';

interface CancelProps {
  readonly job: JobView;
  onConfirm(body: { readonly dependents?: Dependents }): void;
  onClose(): void;
}

export function CancelDialog({ job, onConfirm, onClose }: CancelProps) {
  const [dependents, select] = useState<Dependents>('leave');
  const confirmLabel = () => onConfirm(job.dependents === 0 ? {} : { dependents });
  return (
    <ConfirmDialog title="Cancel this job?" confirmLabel="Cancel job" onConfirm={confirmLabel} onClose={onClose}>
      {job.dependents > 0 && (
        <DependentsChoice
          legend={job.dependents === 1 ? 'One job depends on it:' : `${job.dependents} jobs depend on it:`}
          selected={dependents}
          select={select}
        />
      )}
      {job.state === 'running' ? (
        <RunningJob id={job.id} />
      ) : (
        <p>The job has not started; it ends at once. It can be retried later.</p>
      )}
    </ConfirmDialog>
  );
}

const POLL_MS = 2_000;

function RunningJob({ id }: { id: string }) {
  const { data } = useQuery<JobProcesses>(`api/jobs/${encodeURIComponent(id)}/processes`, {
    everyMs: POLL_MS,
    concerns: () => false,
  });
  if (data === undefined) return <p class="text-soft">Loading its processes …</p>;
  if (!data.isHere)
    return (
      <p>
        The worker is asked to stop: a handler by its abort signal, a script on another node with its process tree. The
        job is <em>cancelled</em> when the worker has stopped it, or when its lease expires.
      </p>
    );
  return (
    <div class="grid grid-cols-[minmax(0,1fr)] gap-3">
      <Steps view={data} />
      <Processes view={data} />
    </div>
  );
}

function Steps({ view: { count, graceMs } }: { view: JobProcesses }) {
  const all = count === 1 ? 'the process' : `all ${count} processes`;
  return (
    <ol class="list-decimal pl-5">
      <li>TERM is sent to {all} below, so that the script can clean up; a stopped process is continued for it.</li>
      <li>After a grace period of {span(graceMs ?? 0)}, KILL is sent to every process that is left.</li>
      <li>
        The job is <em>cancelled</em> when no process is left. Its log is kept, and it can be retried later.
      </li>
    </ol>
  );
}

const RIGHT = 'text-right';
const HEADS = ['Command', 'Pid', { text: 'CPU', class: RIGHT }, { text: 'Memory', class: RIGHT }];

function Processes({ view: { processes, count } }: { view: JobProcesses }) {
  if (count === 0) return <p class="text-soft">The job has no process at the moment.</p>;
  return (
    <>
      <Table caption="Processes of the job" stacks heads={HEADS}>
        {treeOf(processes).map(({ process: { pid, state, command, cpuSeconds, rssBytes }, depth }) => (
          <tr key={pid}>
            <Cell class="max-w-96">
              <div class="truncate font-mono text-xs" title={command}>
                <span class="text-soft whitespace-pre">{depth === 0 ? '' : `${'   '.repeat(depth - 1)}└─ `}</span>
                {command} {state === 'T' && <span class="text-warn">stopped</span>}
              </div>
            </Cell>
            <Cell class="numbers">{pid}</Cell>
            <Cell class="numbers text-right whitespace-nowrap">{span(cpuSeconds * 1_000)}</Cell>
            <Cell class="numbers text-right whitespace-nowrap">{bytes(rssBytes)}</Cell>
          </tr>
        ))}
      </Table>
      {count > processes.length && <p class="text-soft">and {count - processes.length} more</p>}
    </>
  );
}
