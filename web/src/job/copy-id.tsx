/** A shortened id that is a button: it copies the whole id. */

import { useCopy } from '../ui/use-copy.ts';
import { shortId } from './job-title.ts';

export function CopyId({ id }: { id: string }) {
  const { isCopied, copy } = useCopy(id);
  return (
    <button
      type="button"
      class="rounded font-mono text-xs whitespace-nowrap text-soft hover:bg-raised hover:text-ink"
      title={`copy ${id}`}
      onClick={copy}
    >
      <span class="sr-only">copy id </span>
      <span aria-live="polite">{isCopied ? 'copied' : shortId(id)}</span>
      <CopyIcon />
    </button>
  );
}

/** Drawn, because not every font has a sign for it. */
function CopyIcon() {
  return (
    <svg width="11" height="11" viewBox="0 0 12 12" aria-hidden="true" class="ml-1 inline fill-none stroke-current">
      <rect x="1" y="1" width="7" height="7" rx="1.5" />
      <path d="M4 10.5h5.5a1 1 0 0 0 1-1V4" />
    </svg>
  );
}
