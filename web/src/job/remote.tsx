/** A job that was handed on: what has become of it there and the end of its log, asked of the other node by this one. */
import { useEffect, useState } from 'preact/hooks';
import type { Label } from '../../../src/core/job/label.ts';
import type { JobView } from '../../../src/wire/job-view.ts';
import { useQuery } from '../data/use-query.ts';
import { LogText } from '../log/log-text.tsx';
import { Chip, TONES } from '../ui/chip.tsx';
import { ProgressBar } from '../ui/progress-bar.tsx';

/** As that node describes it: a host of RQ says other things, so none of it is relied upon. */
interface RemoteJob {
  readonly label?: Label;
  readonly status?: string;
  readonly reason?: string;
  readonly attempt?: number;
  readonly progress?: JobView['progress'];
  readonly endedAt?: number | null;
}

interface Told {
  readonly address: string;
  readonly known: boolean;
  readonly reason: string | null;
  readonly job: RemoteJob | null;
}

const OFTEN_MS = 3_000;
const SELDOM_MS = 20_000;
const SHOWN_LINES = 200;

export function Remote({ id }: { id: string }) {
  const path = `api/jobs/${encodeURIComponent(id)}/remote`;
  const [everyMs, setPace] = useState(OFTEN_MS);
  const { data } = useQuery<Told>(path, { concerns: () => false, everyMs });
  // What has ended there changes no more, and who does not answer is not asked all the time.
  const isCalm = data !== undefined && (!data.known || data.job?.endedAt != null);
  useEffect(() => setPace(isCalm ? SELDOM_MS : OFTEN_MS), [isCalm]);
  const { data: log } = useQuery<{ known: boolean; text: string }>(`${path}/log`, { concerns: () => false, everyMs });
  if (data === undefined) return null;
  const { address, known, reason, job } = data;
  return (
    <section class="panel px-4 py-3" aria-labelledby="remote">
      <h2 id="remote" class="mb-1 font-semibold">
        At the other node
      </h2>
      <p class="break-all">
        <Address address={address} />
      </p>
      {known ? <Status job={job ?? {}} /> : <p class="mt-1 text-warn">It cannot be seen from here: {reason}</p>}
      {log?.known === true && log.text !== '' && <End text={log.text} />}
    </section>
  );
}

/** Whoever set the address may have set anything: only what leads to a page is a link. */
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
        {isLabel ? <Chip word={label} /> : <span>{status ?? 'known there'}</span>}
        <span class="break-words text-soft">
          {reason} {attempt !== undefined && attempt > 1 && `(attempt ${attempt})`}
        </span>
      </p>
      {progress != null && label === 'running' && (
        <>
          <ProgressBar percent={progress.percent} label="progress at the other node" />
          <p class="break-words text-soft">{progress.text}</p>
        </>
      )}
    </div>
  );
}

function End({ text }: { text: string }) {
  const lines = text.replace(/\n$/, '').split('\n').slice(-SHOWN_LINES);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section
      class="mt-2 max-h-80 overflow-auto rounded-md bg-ground p-2 font-mono text-[13px]"
      tabIndex={0}
      aria-label="The end of its log there"
    >
      {lines.map((line, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name
        <div key={place} class="min-h-[18px] leading-[18px] whitespace-pre-wrap break-all">
          <LogText line={line} />
        </div>
      ))}
    </section>
  );
}
