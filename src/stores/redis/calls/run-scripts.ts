/** Lua scripts on a Redis that belongs to another system: each script is one atomic step on its keys. */
import { LonghaulError } from '../../../core/ports/errors.ts';
import { settingsOf } from '../client/options.ts';
import { toProblem } from '../client/problem.ts';
import { clientsOf } from '../client/redis-client.ts';

export interface ScriptRunner {
  /** Runs a script. A lost reply throws `outcome-unknown`: the caller must be able to repeat the step. */
  run(script: string, args: readonly string[]): Promise<unknown>;
  close(): void;
}

export async function openScriptRunner(url: string): Promise<ScriptRunner> {
  const settings = settingsOf({ url });
  const [place] = settings.address.places;
  if (place === undefined) throw new LonghaulError('bad-input', 'the address names no server');
  try {
    const client = await clientsOf(settings)(place, settings.address);
    return {
      run: (script, args) =>
        client.send(['EVAL', script, '0', ...args]).catch((error: unknown) => {
          throw toProblem(error, 'change');
        }),
      close: () => client.destroy(),
    };
  } catch (error) {
    throw toProblem(error, 'opening');
  }
}
