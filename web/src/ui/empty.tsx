/** An empty state: a title, an explanation and an optional command. */
import type { ComponentChildren } from 'preact';
import { CopyButton } from './copy-button.tsx';

interface EmptyProps {
  readonly title: string;
  readonly children?: ComponentChildren;
  readonly command?: string;
}

export function Empty({ title, children, command }: EmptyProps) {
  return (
    <div class="panel px-6 py-10 text-center">
      <p class="text-base font-medium">{title}</p>
      {children !== undefined && <div class="mx-auto mt-1 max-w-xl text-soft">{children}</div>}
      {command !== undefined && <Command text={command} />}
    </div>
  );
}

/** A shell command with a copy button. */
export function Command({ text }: { text: string }) {
  return (
    <div class="mx-auto mt-3 flex w-fit max-w-full items-center gap-2 rounded-md bg-raised px-3 py-1.5 text-left">
      <code class="overflow-x-auto font-mono text-[13px] whitespace-pre">{text}</code>
      <CopyButton text={text} />
    </div>
  );
}
