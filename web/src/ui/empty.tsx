/** An empty state: a title, an explanation and an optional command of the command line. */
import type { ComponentChildren } from 'preact';
import { CliCommand } from '../command/cli-command.tsx';

interface EmptyProps {
  readonly title: string;
  /** Whether it is the whole page, whose heading is the title. */
  readonly isPage?: boolean;
  readonly children?: ComponentChildren;
  /** The arguments of a `longhaul` command. */
  readonly command?: readonly string[] | undefined;
}

const TITLE = 'text-base font-medium';

export function Empty({ title, isPage = false, children, command }: EmptyProps) {
  return (
    <div class="panel px-6 py-10 text-center">
      {isPage ? <h1 class={TITLE}>{title}</h1> : <p class={TITLE}>{title}</p>}
      {children !== undefined && <div class="mx-auto mt-1 max-w-xl text-soft">{children}</div>}
      {command !== undefined && (
        <div class="flex flex-col items-center">
          <CliCommand args={command} />
        </div>
      )}
    </div>
  );
}
