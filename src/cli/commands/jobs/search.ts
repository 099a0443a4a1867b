/** `longhaul search`: jobs by what somebody remembers of them. */

import { printJson } from '../../output/screen.ts';
import type { Call } from '../../table/call.ts';
import { withTarget } from '../../target/open-target.ts';
import { printPage } from './ls.ts';

const MOST = 500;
const USUAL = 20;

export async function search(call: Call): Promise<number> {
  const words = call.positionals.join(' ');
  if (words === '') throw call.wrong('name what to search for');
  const [queue, after] = [call.text('queue'), call.text('after')];
  const limit = call.number('limit', [1, MOST]) ?? USUAL;
  return withTarget(call, async ({ longhaul }) => {
    const page = await longhaul.search(words, {
      limit,
      ...(queue !== undefined && { queue }),
      ...(after !== undefined && { after }),
    });
    if (call.flag('json')) printJson(page);
    else printPage(page, queue === undefined);
    return 0;
  });
}
