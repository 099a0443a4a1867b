/**
 * Runs the scripts by name. The server keeps them by their checksum; one that it does not know did nothing and is
 * sent whole, which is the only command that is ever sent again.
 */
import { keyPrefix } from '../client/client-library.ts';
import type { Lane } from '../client/connection.ts';
import type { RedisSettings } from '../client/options.ts';
import type { Connection } from '../client/primary-connection.ts';
import { isNoScript } from '../client/problem.ts';
import { loadScripts, type Script, type ScriptName } from './scripts.ts';

/** What a script answers: a text, or a list of texts; null for nothing. */
export type ScriptAnswer = string | readonly string[] | null;

/** Runs a script at the time of the call that wants it. */
export type Ask = (name: ScriptName, args: readonly string[]) => Promise<ScriptAnswer>;

export const listOf = (answer: ScriptAnswer): readonly string[] =>
  Array.isArray(answer) ? (answer as readonly string[]) : [];

export class ScriptRunner {
  readonly #connection: Connection;
  readonly #settings: RedisSettings;
  readonly #scripts = loadScripts();

  constructor(connection: Connection, settings: RedisSettings) {
    this.#connection = connection;
    this.#settings = settings;
  }

  async run(name: ScriptName, args: readonly string[]): Promise<ScriptAnswer> {
    const script = this.#scripts.get(name) as Script;
    try {
      return (await this.#evaluate(script, args)) as ScriptAnswer;
    } catch (error) {
      throw this.#connection.problem(error, script.isRead ? 'look' : 'change');
    }
  }

  async #evaluate({ sha, text, isRead }: Script, args: readonly string[]): Promise<unknown> {
    const rest = ['1', keyPrefix(this.#settings), ...args];
    const lane = this.#connection.lane();
    const send = isRead || this.#settings.replicas === 0 ? sendAlone : sendConfirmed;
    try {
      return await send(lane, ['EVALSHA', sha, ...rest]);
    } catch (error) {
      if (!isNoScript(error)) throw error;
      return await send(lane, ['EVAL', text, ...rest]);
    }
  }
}

const sendAlone = (lane: Lane, args: readonly string[]): Promise<unknown> => lane.send(args);

/** The question to the replicas travels right behind the change, so that both are one way there and back. */
async function sendConfirmed(lane: Lane, args: readonly string[]): Promise<unknown> {
  const answer = lane.send(args);
  const confirmed = lane.confirmed();
  // Should the change itself go wrong, that is what its caller hears.
  confirmed.catch(() => undefined);
  const said = await answer;
  await confirmed;
  return said;
}
