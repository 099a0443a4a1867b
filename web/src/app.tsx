/** The root component: the header of every page, and the page of the current URL. */
import type { Overview } from '../../src/wire/overview.ts';
import { useLocation } from './data/location.ts';
import { MeContext, useMeQuery } from './data/me.ts';
import { OverviewContext } from './data/overview.ts';
import { useQuery } from './data/use-query.ts';
import { ComparePage } from './pages/compare.tsx';
import { FailuresPage } from './pages/failures.tsx';
import { Home } from './pages/home.tsx';
import { JobPage } from './pages/job.tsx';
import { NotFound } from './pages/not-found.tsx';
import { QueuePage } from './pages/queue.tsx';
import { QueuesPage } from './pages/queues.tsx';
import { SchedulesPage } from './pages/schedules.tsx';
import { SearchPage } from './pages/search.tsx';
import { SettingsPage } from './pages/settings.tsx';
import { ThrottlesPage } from './pages/throttles.tsx';
import { WorkersPage } from './pages/workers.tsx';
import { Header } from './ui/header.tsx';
import { OfflineBanner } from './ui/offline-banner.tsx';
import { Shortcuts } from './ui/shortcuts.tsx';

export function App() {
  const overview = useQuery<Overview>('api/overview', { everyMs: 5_000, concerns: ({ type }) => type !== 'progress' });
  return (
    <MeContext.Provider value={useMeQuery()}>
      <OverviewContext.Provider value={overview}>
        <a href="#main" class="sr-only focus:not-sr-only focus:absolute focus:bg-sheet focus:p-2">
          Skip to content
        </a>
        <Header />
        <OfflineBanner />
        <Shortcuts />
        <main id="main" class="mx-auto max-w-[100rem] px-3 py-4 sm:px-5">
          <Page />
        </main>
      </OverviewContext.Provider>
    </MeContext.Provider>
  );
}

function Page() {
  const { path } = useLocation();
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
  return <NotFound path={path} />;
}

/** Decodes a part of the path; a malformed percent escape stays as it is. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
