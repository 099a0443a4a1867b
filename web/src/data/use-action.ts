/**
 * A user action: an API error is kept for display beside its control until the next action. Any other exception
 * is a bug and is rethrown.
 */
import { useState } from 'preact/hooks';
import { CallError } from './call.ts';

export interface ActionState {
  readonly error: CallError | null;
  run(work: () => Promise<unknown>): Promise<void>;
}

export function useAction(): ActionState {
  const [error, setError] = useState<CallError | null>(null);
  const run = async (work: () => Promise<unknown>) => {
    setError(null);
    try {
      await work();
    } catch (thrown) {
      if (!(thrown instanceof CallError)) throw thrown;
      setError(thrown);
    }
  };
  return { error, run };
}
