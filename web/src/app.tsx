/** The whole page: the bar that stands on every page, and the page that the address names. */
import type { Overview } from '../../src/wire/overview.ts';
import { usePlace } from './data/address.ts';
import { MeContext, useAskedMe } from './data/me.ts';
import { OverviewContext } from './data/overview.ts';
import { useQuery } from './data/use-query.ts';
import { ComparePage } from './pages/compare.tsx';
import { FailuresPage } from './pages/failures.tsx';
import { Home } from './pages/home.tsx';
import { JobPage } from './pages/job.tsx';
import { Nowhere } from './pages/nowhere.tsx';
import { QueuePage } from './pages/queue.tsx';
import { QueuesPage } from './pages/queues.tsx';
import { SchedulesPage } from './pages/schedules.tsx';
import { SearchPage } from './pages/search.tsx';
import { SettingsPage } from './pages/settings.tsx';
import { ThrottlesPage } from './pages/throttles.tsx';
import { WorkersPage } from './pages/workers.tsx';
import { AwayBanner } from './ui/away-banner.tsx';
import { Header } from './ui/header.tsx';
import { Shortcuts } from './ui/shortcuts.tsx';

export function App() {
  const overview = useQuery<Overview>('api/overview', { everyMs: 5_000, concerns: ({ type }) => type !== 'progress' });
  return (
    <MeContext.Provider value={useAskedMe()}>
      <OverviewContext.Provider value={overview}>
        <a href="#main" class="sr-only focus:not-sr-only focus:absolute focus:bg-sheet focus:p-2">
          Skip to the content
        </a>
        <Header />
        <AwayBanner />
        <Shortcuts />
        <main id="main" class="mx-auto max-w-[100rem] px-3 py-4 sm:px-5">
          <Page />
        </main>
      </OverviewContext.Provider>
    </MeContext.Provider>
  );
}

function Page() {
  const { path } = usePlace();
  const [first = '', queue, id] = path.split('/').map(decoded);
  if (first === '') return <Home />;
  if (first === 'q' && queue !== undefined && id !== undefined) return <JobPage key={id} queue={queue} id={id} />;
  if (first === 'q' && queue !== undefined) return <QueuePage key={queue} name={queue} />;
  if (first === 'queues') return <QueuesPage />;
  if (first === 'schedules') return <SchedulesPage />;
  if (first === 'compare') return <ComparePage />;
  if (first === 'failures') return <FailuresPage />;
  if (first === 'workers') return <WorkersPage />;
  if (first === 'throttles') return <ThrottlesPage />;
  if (first === 'search') return <SearchPage />;
  if (first === 'settings') return <SettingsPage />;
  return <Nowhere path={path} />;
}

/** Whoever wrote the address may have written a percent sign that means nothing. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
