/** Copies a text to the clipboard, and says for a moment that it did. */
import { useState } from 'preact/hooks';

const COPIED_FOR_MS = 1_500;

export function useCopy(text: string): { readonly isCopied: boolean; copy(): void } {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), COPIED_FOR_MS);
  };
  return { isCopied, copy: () => void copy() };
}
