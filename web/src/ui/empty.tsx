/** An empty state: a title, an explanation and an optional command of the command line. */
import type { ComponentChildren } from 'preact';
import { CliCommand } from './cli-command.tsx';

interface EmptyProps {
  readonly title: string;
  readonly children?: ComponentChildren;
  /** The arguments of a `longhaul` command. */
  readonly command?: readonly string[] | undefined;
}

export function Empty({ title, children, command }: EmptyProps) {
  return (
    <div class="panel px-6 py-10 text-center">
      <p class="text-base font-medium">{title}</p>
      {children !== undefined && <div class="mx-auto mt-1 max-w-xl text-soft">{children}</div>}
      {command !== undefined && <CliCommand args={command} />}
    </div>
  );
}
