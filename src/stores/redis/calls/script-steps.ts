/**
 * The scripts that one operation sends, in order. An operation takes effect in exactly one of them.
 *
 *     fast script ─▶ declined ─▶ general script ─▶ needs a repair ─▶ `repair` ─▶ general script
 *
 * Invariant: a script that declines or needs a repair has written nothing.
 */
import { LonghaulError } from '../../../core/ports/errors.ts';
import { DeclinedCalls } from './declined-calls.ts';
import type { ScriptAnswer, ScriptRunner } from './script-runner.ts';
import { DECLINED, fastScriptOf, LOG_IS_LONG, NEEDS_REPAIR, type ScriptName } from './scripts.ts';

/** Sends one script and returns its reply. */
export type SendScript = (name: ScriptName, args: readonly string[], now?: number) => Promise<unknown>;

/** Repairs of one operation. Each is needed because another client was cut short in between. */
const MAX_REPAIRS = 10;

export class ScriptSteps implements ScriptRunner {
  readonly #send: SendScript;
  readonly #onLongLog: () => void;
  readonly #declined: DeclinedCalls;

  /** `onLongLog` is called when the log of statistics must be aggregated. */
  constructor(send: SendScript, onLongLog: () => void, declined = new DeclinedCalls()) {
    this.#send = send;
    this.#onLongLog = onLongLog;
    this.#declined = declined;
  }

  /** Returns the same steps, sent in another way. */
  over(send: SendScript): ScriptRunner {
    return new ScriptSteps(send, this.#onLongLog, this.#declined);
  }

  async run(
    name: ScriptName,
    args: readonly string[],
    now?: number,
    queues: readonly string[] = [],
  ): Promise<ScriptAnswer> {
    const fast = fastScriptOf(name);
    if (fast !== undefined) {
      const subject = `${name} ${queues.join(' ')}`;
      const answer = this.#declined.isTrying(subject) ? await this.#send(fast, args, now) : undefined;
      if (answer === DECLINED) this.#declined.decline(subject);
      else if (answer !== undefined) {
        this.#declined.accept(subject);
        return this.#result(answer);
      }
    }
    return await this.#runGeneral(name, args, now);
  }

  async #runGeneral(name: ScriptName, args: readonly string[], now: number | undefined): Promise<ScriptAnswer> {
    for (let repairs = 0; repairs <= MAX_REPAIRS; repairs += 1) {
      const answer = await this.#send(name, args, now);
      if (answer !== NEEDS_REPAIR) return this.#result(answer);
      await this.#send('repair', [], now);
    }
    throw new LonghaulError(
      'store-unavailable',
      `${name} found an unfinished call ${MAX_REPAIRS} times: look for scripts that fail in the log of the Redis server`,
    );
  }

  #result(answer: unknown): ScriptAnswer {
    if (!Array.isArray(answer) || answer[0] !== LOG_IS_LONG) return answer as ScriptAnswer;
    this.#onLongLog();
    return answer[1] as ScriptAnswer;
  }
}
