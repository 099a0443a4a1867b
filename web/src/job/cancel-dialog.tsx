/**
 * The question before a cancel: which processes there are at this moment, and what will be done with them, step by step.
 * It only shows; the one who answers decides.
 */
import { useState } from 'preact/hooks';
import type { JobView } from '../../../src/wire/job-view.ts';
import type { JobProcesses } from '../../../src/wire/processes.ts';
import { bytes, span } from '../../../src/wire/spans.ts';
import { useQuery } from '../data/use-query.ts';
import { Question } from '../ui/question.tsx';
import { Cell, Table } from '../ui/table.tsx';
import type { Dependents } from './about-dependents.tsx';
import { AboutDependents } from './about-dependents.tsx';
import { treeOf } from './process-tree.ts';

interface CancelProps {
  readonly job: JobView;
  onYes(body: { readonly dependents?: Dependents }): void;
  onClose(): void;
}

export function CancelDialog({ job, onYes, onClose }: CancelProps) {
  const [dependents, choose] = useState<Dependents>('leave');
  const yes = () => onYes(job.dependents === 0 ? {} : { dependents });
  return (
    <Question title="Cancel this job?" yes="Cancel the job" no="Let it be" onYes={yes} onNo={onClose}>
      {job.dependents > 0 && (
        <AboutDependents
          words={job.dependents === 1 ? 'A job waits for it and' : `${job.dependents} jobs wait for it and`}
          chosen={dependents}
          choose={choose}
        />
      )}
      {job.state === 'running' ? (
        <RunningJob id={job.id} />
      ) : (
        <p>It has not begun, and ends at once. It can be run again later.</p>
      )}
    </Question>
  );
}

const LOOK_EVERY_MS = 2_000;

function RunningJob({ id }: { id: string }) {
  const { data } = useQuery<JobProcesses>(`api/jobs/${encodeURIComponent(id)}/processes`, {
    everyMs: LOOK_EVERY_MS,
    concerns: () => false,
  });
  if (data === undefined) return <p class="text-soft">Looking for its processes …</p>;
  if (!data.isHere)
    return (
      <p>
        Its worker is asked to stop: a handler by its signal, a script on another node with its whole tree. The job ends{' '}
        <em>cancelled</em> when the worker has stopped it, or when its lease is over.
      </p>
    );
  return (
    <div class="grid grid-cols-[minmax(0,1fr)] gap-3">
      <Steps look={data} />
      <Processes look={data} />
    </div>
  );
}

function Steps({ look: { count, graceMs } }: { look: JobProcesses }) {
  const all = count === 1 ? 'the process' : `all ${count} processes`;
  return (
    <ol class="list-decimal pl-5">
      <li>
        TERM is sent to {all} below, so that the script can put things in order; one that stands still goes on for it.
      </li>
      <li>After {span(graceMs ?? 0)} of grace, KILL to whatever is left, also to what has been started since.</li>
      <li>
        The job ends <em>cancelled</em> once none is left. Its log stays, and it can be run again later.
      </li>
    </ol>
  );
}

const RIGHT = 'text-right';
const HEADS = ['Command', 'Pid', { text: 'CPU', class: RIGHT }, { text: 'Memory', class: RIGHT }];

function Processes({ look: { processes, count } }: { look: JobProcesses }) {
  if (count === 0) return <p class="text-soft">No process of it is there at this moment.</p>;
  return (
    <>
      <Table caption="Processes of the job" heads={HEADS}>
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
