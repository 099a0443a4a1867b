/**
 * What a person asks of the node: its no is kept to be shown where it was asked for, until the next asking. Whatever else
 * goes wrong is a bug of the page, and is thrown.
 */
import { useState } from 'preact/hooks';
import { CallError } from './call.ts';

export interface Acting {
  readonly error: CallError | null;
  act(work: () => Promise<unknown>): Promise<void>;
}

export function useAct(): Acting {
  const [error, setError] = useState<CallError | null>(null);
  const act = async (work: () => Promise<unknown>) => {
    setError(null);
    try {
      await work();
    } catch (thrown) {
      if (!(thrown instanceof CallError)) throw thrown;
      setError(thrown);
    }
  };
  return { error, act };
}
