/**
 * The time limits of one call. The first step that takes too long ends the call and gives its message.
 *
 *     connecting ──connected──▶ sending (each chunk restarts the limit) ──sent──▶ waiting for the whole answer
 */
import type { ClientRequest } from 'node:http';
import type { OutboundTimes } from './outbound-call.ts';

/** The message of a call whose signal was aborted. */
export const STOPPED = 'the call was stopped';

export class CallTimer {
  readonly connected: Promise<void>;
  readonly #times: OutboundTimes;
  #request: ClientRequest | null = null;
  #timer: NodeJS.Timeout | undefined;
  #resolveConnected: () => void = () => undefined;
  #ended: 'too-slow' | 'stopped' | null = null;
  #message = '';
  #isConnected = false;
  #isSent = false;
  #isOver = false;

  constructor(times: OutboundTimes) {
    this.#times = times;
    this.connected = new Promise((resolve) => {
      this.#resolveConnected = resolve;
    });
  }

  /** Why this side ended the call; null when it did not. */
  get ended(): 'too-slow' | 'stopped' | null {
    return this.#ended;
  }

  get message(): string {
    return this.#message;
  }

  /** Whether a connection was established: before that, the request had no effect. */
  get isConnected(): boolean {
    return this.#isConnected;
  }

  watch(request: ClientRequest): void {
    this.#request = request;
    this.#limit(this.#times.connectMs, 'no connection');
    const onConnected = (): void => {
      this.#isConnected = true;
      this.#resolveConnected();
      if (this.#isSent) this.sent();
      else this.progressed();
    };
    request.once('socket', (socket) => {
      const event = 'encrypted' in socket ? 'secureConnect' : 'connect';
      if (socket.connecting) socket.once(event, onConnected);
      else onConnected();
    });
    // Releases waiters of a connection that was never made.
    request.once('close', () => this.#resolveConnected());
  }

  progressed(): void {
    if (!this.#isSent && this.#isConnected) this.#limit(this.#times.idleMs, 'the receiver took no data');
  }

  sent(): void {
    this.#isSent = true;
    if (this.#isConnected) this.#limit(this.#times.answerMs, 'no complete answer');
  }

  /** Limits the time of an answer that begins before the whole request was sent. */
  answered(): void {
    if (!this.#isSent) this.sent();
  }

  stopped(): Error {
    this.#ended ??= 'stopped';
    this.#message = STOPPED;
    return new Error(this.#message);
  }

  /** A chunk that is sent after this starts no limit: its timer would outlive the call. */
  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  #limit(ms: number, what: string): void {
    clearTimeout(this.#timer);
    if (this.#isOver) return;
    this.#timer = setTimeout(() => {
      this.#ended ??= 'too-slow';
      this.#message = `${what} within ${ms / 1_000} s`;
      this.#request?.destroy(new Error(this.#message));
    }, ms);
  }
}
