/** `longhaul search`: finds jobs by id prefix, tag, name or searchable field. */

import { printJson } from '../../output/screen.ts';
import type { Args } from '../../table/args.ts';
import { withTarget } from '../../target/open-target.ts';
import { printPage } from './ls.ts';

const MAX_LIMIT = 500;
const DEFAULT_LIMIT = 20;

export async function search(args: Args): Promise<number> {
  const text = args.positionals.join(' ');
  if (text === '') throw args.usageError('TEXT is missing');
  const [queue, after] = [args.text('queue'), args.text('after')];
  const limit = args.number('limit', [1, MAX_LIMIT]) ?? DEFAULT_LIMIT;
  return withTarget(args, async ({ longhaul }) => {
    const page = await longhaul.search(text, {
      limit,
      ...(queue !== undefined && { queue }),
      ...(after !== undefined && { after }),
    });
    if (args.flag('json')) printJson(page);
    else printPage(page, queue === undefined);
    return 0;
  });
}
