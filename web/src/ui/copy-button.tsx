/** A button that copies a text and confirms it. */
import { useCopy } from './use-copy.ts';

export function CopyButton({ text, label = 'copy' }: { text: string; label?: string }) {
  const { isCopied, copy } = useCopy(text);
  return (
    <button
      type="button"
      class="rounded border border-line px-1.5 py-px text-xs text-soft hover:bg-raised hover:text-ink"
      onClick={copy}
      title={text}
    >
      <span aria-live="polite">{isCopied ? 'copied' : label}</span>
    </button>
  );
}
