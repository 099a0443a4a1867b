/** An address that names nothing. */
import { Empty } from '../ui/empty.tsx';
import { Link } from '../ui/link.tsx';

export function Nowhere({ path }: { path: string }) {
  return (
    <Empty title="There is nothing at this address">
      <code class="font-mono break-all">{path}</code> names no page.{' '}
      <Link to="" class="link">
        To what runs now
      </Link>
    </Empty>
  );
}
