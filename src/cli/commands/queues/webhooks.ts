/** `longhaul hooks`: prints the signing secrets of webhooks, which needs access to the data directory. No API returns them. */
import { LonghaulError } from '../../../core/ports/errors.ts';
import { nodeSettings } from '../../../node/node-settings.ts';
import { secretsOf } from '../../../node/webhooks/webhook-secrets.ts';
import { readIfExists } from '../../daemon/serve-settings.ts';
import { print } from '../../output/screen.ts';
import type { Args } from '../../table/args.ts';
import { homeOf } from '../../table/command.ts';

export async function hooks(args: Args): Promise<number> {
  const [verb, name, ...more] = args.positionals;
  if (more.length > 0) throw args.usageError('too many arguments');
  if (verb !== 'secret')
    throw args.usageError(verb === undefined ? 'secret is missing' : `unknown subcommand: hooks ${verb}`);
  const home = homeOf(args.text('home'));
  const secrets = await secretsOf(nodeSettings(readIfExists(home.settings)), home.root, name);
  if (secrets.length === 0)
    throw new LonghaulError('refused', `there is no secret ${name ?? ''} under hooks.secrets in node.json`);
  for (const secret of secrets) print(secret);
  return 0;
}
