/** A `longhaul` command that works where the user is; nothing where none does. */
import { basePath } from '../data/base.ts';
import { useMe } from '../data/me.ts';
import { cliText } from './cli-words.ts';
import { Command } from './command.tsx';

export function CliCommand({ args }: { args: readonly string[] }) {
  const me = useMe();
  const text = me === undefined ? null : cliText(args, me, `${location.origin}${basePath}`);
  if (me === undefined || text === null) return null;
  return (
    <>
      <Command text={text} />
      {me.home === null && me.token !== null && (
        <p class="mt-1 text-xs text-soft">Set the variable LONGHAUL_TOKEN to your token before.</p>
      )}
    </>
  );
}
