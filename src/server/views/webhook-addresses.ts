/** Whether hooks that somebody sets may be called at all: a private place that nobody allowed is refused where it is written out. */
import { badInput } from '../../core/ports/errors.ts';
import type { Hook } from '../../core/webhooks/webhook.ts';
import type { ServerContext } from './context.ts';

export function mustBeCallable({ node }: Pick<ServerContext, 'node'>, hooks: readonly Hook[] | undefined): void {
  const problems = hooks === undefined || node === null ? [] : node.hooks.problems(hooks);
  if (problems.length === 0) return;
  const words = problems.map(({ place, message }) => ({ path: `hooks[${place}]`, message }));
  throw badInput('hooks', words);
}
