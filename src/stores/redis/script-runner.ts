/**
 * Runs the scripts by name. The server keeps them by their checksum; one that it does not know did nothing and is
 * sent whole, which is the only command that is ever sent again.
 */
import { LonghaulError } from '../../core/errors.ts';
import { keyPrefix } from './client-library.ts';
import type { Connection } from './connection.ts';
import type { RedisSettings } from './options.ts';
import { isNoScript } from './problem.ts';
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
      const answer = await this.#evaluate(script, args);
      if (!script.isLook && this.#settings.replicas > 0) await this.#awaitReplicas();
      return answer as ScriptAnswer;
    } catch (error) {
      throw this.#connection.problem(error, script.isLook ? 'look' : 'change');
    }
  }

  async #evaluate({ sha, text }: Script, args: readonly string[]): Promise<unknown> {
    const rest = ['1', keyPrefix(this.#settings), ...args];
    try {
      return await this.#connection.send(['EVALSHA', sha, ...rest]);
    } catch (error) {
      if (!isNoScript(error)) throw error;
      return await this.#connection.send(['EVAL', text, ...rest]);
    }
  }

  async #awaitReplicas(): Promise<void> {
    const { replicas, commandTimeoutMs } = this.#settings;
    const patienceMs = String(Math.floor(commandTimeoutMs / 2));
    const reached = Number(await this.#connection.send(['WAIT', String(replicas), patienceMs]));
    if (reached >= replicas) return;
    throw new LonghaulError(
      'outcome-unknown',
      `only ${reached} of ${replicas} replicas have it; the call may be repeated`,
    );
  }
}
