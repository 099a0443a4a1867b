/** The dependency graph of a job, drawn from left to right; each node is a link. */
import type { JobView } from '../../../src/wire/job-view.ts';
import { addressOf } from '../data/base.ts';
import { jobPath } from '../data/location.ts';
import { useQuery } from '../data/use-query.ts';
import { TONES } from '../ui/chip.tsx';
import { followLink } from '../ui/link.tsx';
import type { Edge, Position } from './graph-layout.ts';
import { layoutOf } from './graph-layout.ts';
import { shortId } from './job-title.ts';

type GraphJob = Pick<JobView, 'id' | 'queue' | 'name' | 'state' | 'label' | 'reason'>;

interface Graph {
  readonly nodes: readonly GraphJob[];
  readonly edges: readonly Edge[];
  readonly isWhole: boolean;
}

const BOX = { width: 190, height: 38 };
const STEP = { x: 250, y: 52 };
const LONGEST = 24;

export function Dependencies({ job }: { job: JobView }) {
  const isAlone = job.parents === null && job.dependents === 0;
  const path = `api/jobs/${encodeURIComponent(job.id)}/graph`;
  // The end of any job may change the graph. A job without parents and dependents now may have had dependents before.
  const { data } = useQuery<Graph>(path, {
    concerns: ({ type }) => !isAlone && type !== 'progress' && type !== 'queue',
    everyMs: isAlone ? 60_000 : 10_000,
  });
  if (data === undefined || data.nodes.length < 2) return null;
  return (
    <section class="panel px-4 py-3" aria-labelledby="dependencies">
      <h2 id="dependencies" class="mb-2 font-semibold">
        Dependencies{' '}
        <span class="text-sm font-normal text-soft">
          {data.nodes.length} jobs{!data.isWhole && ', and more'}; each starts when those left of it are done
        </span>
      </h2>
      <Drawing graph={data} own={job.id} />
    </section>
  );
}

function Drawing({ graph: { nodes, edges }, own }: { graph: Graph; own: string }) {
  const { positions, columns, rows } = layoutOf(
    nodes.map(({ id }) => id),
    edges,
  );
  const [width, height] = [(columns - 1) * STEP.x + BOX.width + 2, (rows - 1) * STEP.y + BOX.height + 2];
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
    <section class="max-h-[28rem] overflow-auto" tabIndex={0} aria-label="Graph of dependent jobs">
      <svg width={width} height={height} viewBox={`-1 -1 ${width} ${height}`} role="group" aria-label="Dependent jobs">
        {edges.map((edge) => (
          <Line key={`${edge.parent} ${edge.child}`} from={positions.get(edge.parent)} to={positions.get(edge.child)} />
        ))}
        {nodes.map((node) => (
          <Box key={node.id} node={node} position={positions.get(node.id)} isOwn={node.id === own} />
        ))}
      </svg>
    </section>
  );
}

function Line({ from, to }: { from: Position | undefined; to: Position | undefined }) {
  if (from === undefined || to === undefined) return null;
  const [x1, y1] = [from.column * STEP.x + BOX.width, from.row * STEP.y + BOX.height / 2];
  const [x2, y2] = [to.column * STEP.x, to.row * STEP.y + BOX.height / 2];
  const half = (x1 + x2) / 2;
  return (
    <g class="stroke-soft" fill="none" stroke-width="1.3">
      <path d={`M${x1},${y1} C${half},${y1} ${half},${y2} ${x2},${y2}`} />
      <path d={`M${x2 - 6},${y2 - 4} L${x2},${y2} L${x2 - 6},${y2 + 4}`} />
    </g>
  );
}

function Box({ node, position, isOwn }: { node: GraphJob; position: Position | undefined; isOwn: boolean }) {
  const { id, queue, name, label, reason } = node;
  const title = name ?? shortId(id);
  const to = jobPath(queue, id);
  return (
    <a
      href={addressOf(to)}
      aria-label={`${title}, ${label}${isOwn ? ', this job' : ''}`}
      aria-current={isOwn ? 'true' : undefined}
      onClick={(event) => followLink(event, to)}
    >
      <title>{`${title} (${queue}): ${label}, ${reason}`}</title>
      <g transform={`translate(${(position?.column ?? 0) * STEP.x} ${(position?.row ?? 0) * STEP.y})`}>
        <rect
          {...BOX}
          rx="7"
          class={`fill-ground ${isOwn ? 'stroke-accent' : 'stroke-line'}`}
          stroke-width={isOwn ? 2 : 1}
        />
        <rect x="0" y="8" width="4" height={BOX.height - 16} rx="2" class={FILLS[TONES[label]]} />
        <text x="12" y="16" class="fill-ink text-[13px] font-medium">
          {short(title)}
        </text>
        <text x="12" y="31" class="fill-soft text-[11px]">
          {short(`${label} · ${queue}`)}
        </text>
      </g>
    </a>
  );
}

const FILLS = {
  accent: 'fill-accent',
  good: 'fill-good',
  bad: 'fill-bad',
  warn: 'fill-warn',
  later: 'fill-later',
  calm: 'fill-calm',
} as const;

const short = (text: string): string => (text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1)}…`);
