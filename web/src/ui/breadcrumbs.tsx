/** The way to a page: links to the pages above it, and the title of the tab. */
import { useEffect } from 'preact/hooks';
import { Link } from './link.tsx';

type Crumb = readonly [label: string, path: string];

export function Breadcrumbs({ crumbs }: { crumbs: readonly Crumb[] }) {
  return (
    <nav aria-label="Breadcrumbs" class="text-sm text-soft">
      <ol class="flex flex-wrap gap-x-1.5">
        {crumbs.map(([label, path]) => (
          <li key={path} class="flex min-w-0 gap-x-1.5">
            <Link to={path} class="link break-all">
              {label}
            </Link>
            <span aria-hidden="true">/</span>
          </li>
        ))}
      </ol>
    </nav>
  );
}

/** Sets the title of the tab while the page is shown. */
export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = title === '' ? 'Longhaul' : `${title} · Longhaul`;
    return () => void (document.title = 'Longhaul');
  }, [title]);
}
