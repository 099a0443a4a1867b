/** A shortened id that is a button: it copies the whole id. */
import { shortId } from './job-title.ts';
import { useCopy } from './use-copy.ts';

export function CopyId({ id }: { id: string }) {
  const { isCopied, copy } = useCopy(id);
  return (
    <button
      type="button"
      class="rounded font-mono text-xs whitespace-nowrap text-soft hover:bg-raised hover:text-ink"
      aria-label={`copy id ${id}`}
      title={`copy id ${id}`}
      onClick={copy}
    >
      <span aria-live="polite">{isCopied ? 'copied' : `${shortId(id)} ⧉`}</span>
    </button>
  );
}
