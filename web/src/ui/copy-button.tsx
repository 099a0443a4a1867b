/** A button that copies a text and confirms it. */
import { useState } from 'preact/hooks';

const COPIED_FOR_MS = 1_500;

export function CopyButton({ text, label = 'copy' }: { text: string; label?: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), COPIED_FOR_MS);
  };
  return (
    <button
      type="button"
      class="rounded border border-line px-1.5 py-px text-xs text-soft hover:bg-raised hover:text-ink"
      onClick={() => void copy()}
      title={text}
    >
      <span aria-live="polite">{isCopied ? 'copied' : label}</span>
    </button>
  );
}
