/** `longhaul hooks`: the secrets of hooks, for who has the home folder. Nothing else ever shows them. */
import { LonghaulError } from '../../../core/ports/errors.ts';
import { nodeSettings } from '../../../node/node-settings.ts';
import { secretsOf } from '../../../node/webhooks/webhook-secrets.ts';
import { readIfThere } from '../../daemon/serve-settings.ts';
import { print } from '../../output/screen.ts';
import type { Call } from '../../table/call.ts';
import { homeOf } from '../../table/command.ts';

export async function hooks(call: Call): Promise<number> {
  const [verb, name, ...more] = call.positionals;
  if (more.length > 0) throw call.wrong('too many words');
  if (verb !== 'secret')
    throw call.wrong(verb === undefined ? 'secret is missing' : `there is no longhaul hooks ${verb}`);
  const home = homeOf(call.text('home'));
  const secrets = await secretsOf(nodeSettings(readIfThere(home.settings)), home.root, name);
  if (secrets.length === 0)
    throw new LonghaulError('refused', `node.json has no secret ${name ?? ''} under hooks.secrets`);
  for (const secret of secrets) print(secret);
  return 0;
}
