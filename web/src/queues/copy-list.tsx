/** The list that is shown, as a line for the shell. */
import { addressOf } from '../data/base.ts';
import { withQuery } from '../data/call.ts';
import { CopyButton } from '../ui/copy-button.tsx';
import { shellWord } from '../ui/shell-words.ts';
import type { Filters } from './job-filters.tsx';

/** Those that `longhaul ls` knows too. */
const OPTIONS: readonly string[] = ['state', 'label', 'tag', 'name', 'worker', 'group'];

export function CopyList({ queue, filters }: { queue: string; filters: Filters }) {
  const given = Object.entries(filters);
  const address = `${location.origin}${withQuery(addressOf('api/jobs'), { queue, ...filters })}`;
  const words = ['longhaul', 'ls', queue, ...given.flatMap(([name, value]) => [`--${name}`, value])];
  return (
    <span class="flex gap-2">
      {given.every(([name]) => OPTIONS.includes(name)) && (
        <CopyButton text={words.map(shellWord).join(' ')} label="copy as command" />
      )}
      <CopyButton text={`curl -s ${shellWord(address)}`} label="copy as curl" />
    </span>
  );
}
