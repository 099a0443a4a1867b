/** Copies the current list as a `longhaul ls` or curl command. */
import { addressOf } from '../data/base.ts';
import { withQuery } from '../data/call.ts';
import { CopyButton } from '../ui/copy-button.tsx';
import { shellQuote } from '../ui/shell-quote.ts';
import type { Filters } from './job-filters.tsx';

/** The filters that `longhaul ls` supports. */
const OPTIONS: readonly string[] = ['state', 'label', 'tag', 'name', 'worker', 'group'];

export function CopyListCommand({ queue, filters }: { queue: string; filters: Filters }) {
  const given = Object.entries(filters);
  const address = `${location.origin}${withQuery(addressOf('api/jobs'), { queue, ...filters })}`;
  const args = ['longhaul', 'ls', queue, ...given.flatMap(([name, value]) => [`--${name}`, value])];
  return (
    <span class="flex gap-2">
      {given.every(([name]) => OPTIONS.includes(name)) && (
        <CopyButton text={args.map(shellQuote).join(' ')} label="copy as command" />
      )}
      <CopyButton text={`curl -s ${shellQuote(address)}`} label="copy as curl" />
    </span>
  );
}
