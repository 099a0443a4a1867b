/** The header of every page: navigation, search and totals. */
import { useLocation } from '../data/location.ts';
import { useMe } from '../data/me.ts';
import { useHasNoWorker, useOverview } from '../data/overview.ts';
import { Link } from './link.tsx';
import { SearchBox } from './search-box.tsx';
import { Sparkline } from './sparkline.tsx';

const PAGES = [
  ['', 'Running'],
  ['queues', 'Queues'],
  ['schedules', 'Schedules'],
  ['failures', 'Failures'],
  ['workers', 'Workers'],
  ['settings', 'Settings'],
] as const;

export function Header() {
  return (
    <header class="sticky top-0 z-20 border-b border-line bg-sheet">
      <div class="mx-auto flex max-w-[100rem] flex-wrap items-center gap-x-5 gap-y-1.5 px-3 py-2 sm:px-5">
        <Link to="" class="flex items-center gap-2 font-semibold tracking-tight no-underline">
          <Logo /> Longhaul
        </Link>
        <Navigation />
        <div class="ml-auto flex items-center gap-3">
          {useMe()?.role === 'read' && (
            <Link to="settings" class="text-sm text-soft" title="You have the role read">
              read only
            </Link>
          )}
          <SearchBox />
        </div>
      </div>
      <StatBar />
    </header>
  );
}

function Logo() {
  return (
    <svg width="20" height="20" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="7" class="fill-accent" />
      <path d="M7 22V9.5h3.6v9.4H17V22z" class="fill-on-accent" />
      <path d="M19.5 11.5h6M19.5 16h6M19.5 20.5h3" stroke-width="2.6" stroke-linecap="round" class="stroke-on-accent" />
    </svg>
  );
}

function Navigation() {
  const { path } = useLocation();
  const [first = ''] = path.split('/');
  return (
    <nav aria-label="Pages" class="order-last flex w-full min-w-0 overflow-x-auto sm:order-none sm:w-auto sm:gap-1">
      {PAGES.map(([to, label]) => {
        const isHere = to === first || (to === 'queues' && (first === 'q' || first === 'throttles'));
        const className = isHere ? 'bg-raised text-ink' : 'text-soft hover:text-ink';
        return (
          <Link
            key={to}
            to={to}
            current={isHere}
            class={`rounded-md px-1.5 py-1 text-xs font-medium no-underline sm:px-2.5 sm:text-sm ${className}`}
          >
            {label}
          </Link>
        );
      })}
    </nav>
  );
}

function StatBar() {
  const { data } = useOverview();
  const hasNoWorker = useHasNoWorker();
  const minutes = data?.minutes ?? [];
  const lastFive = minutes.slice(-6, -1);
  const perMinute = lastFive.length === 0 ? 0 : lastFive.reduce((sum, each) => sum + each, 0) / lastFive.length;
  return (
    <section aria-label="Totals" class="border-t border-line bg-ground">
      <dl class="mx-auto flex max-w-[100rem] flex-wrap items-center gap-x-4 px-3 py-1.5 sm:gap-x-5 sm:px-5">
        <Stat
          name={hasNoWorker ? 'waiting, some without a worker' : 'waiting'}
          value={data?.waiting}
          className={hasNoWorker ? 'text-warn' : ''}
          to="queues"
        />
        <Stat name="running" value={data?.running} className="text-accent" to="" />
        <Stat name="scheduled" value={data?.scheduled} className="text-later" to="queues" />
        <Stat
          name="failed"
          value={data?.failed}
          className={data !== undefined && data.failed > 0 ? 'text-bad' : ''}
          to="failures"
        />
        <Stat name="done today" value={data?.doneToday} className="text-good" />
        <Stat name="per minute" value={data === undefined ? undefined : Math.round(perMinute * 10) / 10} />
        <div class="hidden sm:block">
          <dt class="sr-only">done per minute in the last hour</dt>
          <dd>
            <Sparkline values={minutes} title={`done per minute in the last ${minutes.length} minutes`} />
          </dd>
        </div>
        <Stat name={data?.nodes === 1 ? 'node' : 'nodes'} value={data?.nodes} to="workers" />
      </dl>
    </section>
  );
}

interface StatProps {
  readonly name: string;
  readonly value: number | undefined;
  readonly className?: string;
  /** The page with details. */
  readonly to?: string;
}

function Stat({ name, value, className = '', to }: StatProps) {
  const text = value === undefined ? '–' : value.toLocaleString('en');
  return (
    <div class="flex items-baseline gap-1.5 whitespace-nowrap">
      <dd class={`numbers order-1 text-base font-semibold ${className}`}>
        {to === undefined ? (
          text
        ) : (
          <Link to={to} class="no-underline hover:underline">
            {text}
          </Link>
        )}
      </dd>
      <dt class="order-2 text-xs text-soft">{name}</dt>
    </div>
  );
}
