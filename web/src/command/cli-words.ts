/** The text of a `longhaul` command that reaches the node of this page from the shell of the user. Pure. */
import type { Me } from '../data/me.ts';
import { shellQuote } from '../ui/shell-quote.ts';

/**
 * Returns the command with the address of the node: its data directory on the same machine, otherwise the URL of the
 * page. Returns null inside another application, which the command line cannot reach.
 */
export function cliText(args: readonly string[], me: Pick<Me, 'home' | 'hasNode'>, url: string): string | null {
  // What follows a bare -- belongs to the command of the job.
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  const address = me.home === null ? ['--store', url] : ['--home', me.home];
  return me.hasNode
    ? ['longhaul', ...args.slice(0, end), ...address, ...args.slice(end)].map(shellQuote).join(' ')
    : null;
}
