/** `longhaul cancel`: ends a job for good, also while it runs. */
import type { Command } from './command.ts';
import { homeOf, read, UsageError, withHome } from './command.ts';

export const cancelCommand: Command = {
  usage: 'cancel ID…',
  about: 'Ends jobs for good. A running one is asked to stop; it ends when nothing of it is left.',
  example: 'longhaul cancel 0190f9c2-…',
  async run(words) {
    const { values, positionals } = read(words, {});
    if (positionals.length === 0) throw new UsageError(`usage: longhaul ${cancelCommand.usage}`);
    return withHome(homeOf(values.home), async (longhaul) => {
      let code = 0;
      for (const id of positionals) {
        const answer = await longhaul.cancel(id);
        console.log(`${id}: ${answer.ok ? answer.outcome : answer.refusal.message}`);
        if (!answer.ok) code = 1;
      }
      return code;
    });
  },
};
