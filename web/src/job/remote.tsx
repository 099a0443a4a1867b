/** A forwarded job: its state and the end of its log on the other node, fetched through this node. */
import { useEffect, useState } from 'preact/hooks';
import type { Label } from '../../../src/core/job/label.ts';
import type { JobView } from '../../../src/wire/job-view.ts';
import { useQuery } from '../data/use-query.ts';
import { LogText } from '../log/log-text.tsx';
import { JobChip, TONES } from '../ui/chip.tsx';
import { ProgressBar } from '../ui/progress-bar.tsx';

/** The answer of the other node. An RQ host sends other fields, so all are optional. */
interface RemoteJob {
  readonly label?: Label;
  readonly status?: string;
  readonly reason?: string;
  readonly attempt?: number;
  readonly progress?: JobView['progress'];
  readonly endedAt?: number | null;
}

interface RemoteState {
  readonly address: string;
  readonly known: boolean;
  readonly reason: string | null;
  readonly job: RemoteJob | null;
}

const FAST_POLL_MS = 3_000;
const SLOW_POLL_MS = 20_000;
const SHOWN_LINES = 200;

export function Remote({ id }: { id: string }) {
  const path = `api/jobs/${encodeURIComponent(id)}/remote`;
  const [everyMs, setPace] = useState(FAST_POLL_MS);
  const { data } = useQuery<RemoteState>(path, { concerns: () => false, everyMs });
  // An ended job does not change any more, and an unreachable node is polled less often.
  const isCalm = data !== undefined && (!data.known || data.job?.endedAt != null);
  useEffect(() => setPace(isCalm ? SLOW_POLL_MS : FAST_POLL_MS), [isCalm]);
  const { data: log } = useQuery<{ known: boolean; text: string }>(`${path}/log`, { concerns: () => false, everyMs });
  if (data === undefined) return null;
  const { address, known, reason, job } = data;
  return (
    <section class="panel px-4 py-3" aria-labelledby="remote">
      <h2 id="remote" class="mb-1 font-semibold">
        On the other node
      </h2>
      <p class="break-all">
        <Address address={address} />
      </p>
      {known ? <Status job={job ?? {}} /> : <p class="mt-1 text-warn">The other node does not answer: {reason}</p>}
      {log?.known === true && log.text !== '' && <End text={log.text} />}
    </section>
  );
}

/** Renders only http(s) addresses as links: the address comes from the producer and is not trusted. */
function Address({ address }: { address: string }) {
  if (!/^https?:\/\//.test(address)) return <>{address}</>;
  return (
    <a class="link" href={address} rel="noreferrer">
      {address}
    </a>
  );
}

function Status({ job: { label, status, reason, progress, attempt } }: { job: RemoteJob }) {
  const isLabel = label !== undefined && label in TONES;
  return (
    <div class="mt-1 grid gap-1.5">
      <p class="flex flex-wrap items-center gap-2">
        {isLabel ? <JobChip label={label} /> : <span>{status ?? 'known to the other node'}</span>}
        <span class="break-words text-soft">
          {reason} {attempt !== undefined && attempt > 1 && `(attempt ${attempt})`}
        </span>
      </p>
      {progress != null && label === 'running' && (
        <>
          <ProgressBar percent={progress.percent} label="progress on the other node" />
          <p class="break-words text-soft">{progress.text}</p>
        </>
      )}
    </div>
  );
}

function End({ text }: { text: string }) {
  const lines = text.replace(/\n$/, '').split('\n').slice(-SHOWN_LINES);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
    <section
      class="mt-2 max-h-80 overflow-auto rounded-md bg-ground p-2 font-mono text-[13px]"
      tabIndex={0}
      aria-label="End of the remote log"
    >
      {lines.map((line, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other key
        <div key={place} class="min-h-[18px] leading-[18px] whitespace-pre-wrap break-all">
          <LogText line={line} />
        </div>
      ))}
    </section>
  );
}
