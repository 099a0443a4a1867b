/** `longhaul notify`: sends an event to a job. */
import { LonghaulError } from '../../../core/ports/errors.ts';
import { print, printJson } from '../../output/screen.ts';
import type { Args } from '../../table/args.ts';
import { withTarget } from '../../target/open-target.ts';
import { parseJson } from './new-job.ts';

const OUTCOMES = {
  kept: 'kept until it waits for the event',
  woken: 'woken',
  ignored: 'ignored: an earlier event of this name is not read yet',
};

export async function notifyJob(args: Args): Promise<number> {
  const [id, name, text, ...more] = args.positionals;
  if (id === undefined || name === undefined) throw args.usageError(`${id === undefined ? 'ID' : 'NAME'} is missing`);
  if (more.length > 0) throw args.usageError('too many arguments: write DATA as one word of JSON');
  const data = text === undefined ? null : parseJson('DATA', text);
  return withTarget(args, async ({ longhaul }) => {
    const answer = await longhaul.notify(id, name, data);
    if (!answer.ok) throw new LonghaulError('refused', answer.refusal.message);
    if (args.flag('json')) printJson({ id, outcome: answer.outcome, state: answer.state });
    else print(`job ${id}: ${OUTCOMES[answer.outcome]}`);
    return 0;
  });
}
