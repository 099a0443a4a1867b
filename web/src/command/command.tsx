/** A shell command with a copy button. */
import { CopyButton } from '../ui/copy-button.tsx';

export function Command({ text }: { text: string }) {
  return (
    <div class="mt-3 flex w-fit max-w-full items-center gap-2 rounded-md bg-raised px-3 py-1.5 text-left">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard */}
      <code class="overflow-x-auto font-mono text-[13px] whitespace-pre" tabIndex={0}>
        {text}
      </code>
      <CopyButton text={text} />
    </div>
  );
}
