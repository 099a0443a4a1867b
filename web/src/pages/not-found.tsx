/** The page for an unknown URL. */
import { Empty } from '../ui/empty.tsx';
import { Link } from '../ui/link.tsx';

export function NotFound({ path }: { path: string }) {
  return (
    <Empty title="Page not found" isPage>
      <code class="font-mono break-all">{path}</code> is not a page of the web UI.{' '}
      <Link to="" class="link">
        Go to the running jobs
      </Link>
    </Empty>
  );
}
