/** Refuses webhooks whose URL contains a private address that is not allowed. */
import { badInput } from '../../core/ports/errors.ts';
import type { Webhook } from '../../core/webhooks/webhook.ts';
import type { ServerContext } from './context.ts';

export function mustBeCallable({ node }: Pick<ServerContext, 'node'>, hooks: readonly Webhook[] | undefined): void {
  const problems = hooks === undefined || node === null ? [] : node.hooks.problems(hooks);
  if (problems.length === 0) return;
  throw badInput(
    'hooks',
    problems.map(({ place, message }) => ({ path: `hooks[${place}]`, message })),
  );
}
