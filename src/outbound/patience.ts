/**
 * How long each step of one call may take. The first that takes too long ends the call, and is what is told.
 *
 *     connecting ──connected──▶ sending (each piece begins it anew) ──sent──▶ waiting for the whole answer
 */
import type { ClientRequest } from 'node:http';
import type { OutboundTimes } from './outbound-call.ts';

export class Patience {
  readonly connected: Promise<void>;
  readonly #times: OutboundTimes;
  #request: ClientRequest | null = null;
  #timer: NodeJS.Timeout | undefined;
  #isConnected: () => void = () => undefined;
  #ended: 'too-slow' | 'stopped' | null = null;
  #words = '';
  #isThrough = false;
  #isSent = false;
  #isOver = false;

  constructor(times: OutboundTimes) {
    this.#times = times;
    this.connected = new Promise((resolve) => {
      this.#isConnected = resolve;
    });
  }

  /** Why the call was ended from this side; null when it was not. */
  get ended(): 'too-slow' | 'stopped' | null {
    return this.#ended;
  }

  get words(): string {
    return this.#words;
  }

  /** Whether a connection stood: before that nothing can have been done. */
  get isThrough(): boolean {
    return this.#isThrough;
  }

  watch(request: ClientRequest): void {
    this.#request = request;
    this.#wait(this.#times.connectMs, 'no connection');
    const through = (): void => {
      this.#isThrough = true;
      this.#isConnected();
      if (this.#isSent) this.sent();
      else this.moved();
    };
    request.once('socket', (socket) => {
      const event = 'encrypted' in socket ? 'secureConnect' : 'connect';
      if (socket.connecting) socket.once(event, through);
      else through();
    });
    // Whoever waits for a connection that never came must not wait for ever.
    request.once('close', () => this.#isConnected());
  }

  moved(): void {
    if (!this.#isSent && this.#isThrough) this.#wait(this.#times.idleMs, 'nothing more of it was taken');
  }

  sent(): void {
    this.#isSent = true;
    if (this.#isThrough) this.#wait(this.#times.answerMs, 'no whole answer');
  }

  /** An answer that comes before everything was sent must end in its time, too. */
  answered(): void {
    if (!this.#isSent) this.sent();
  }

  stopped(): Error {
    this.#ended ??= 'stopped';
    this.#words = 'it was told to stop';
    return new Error(this.#words);
  }

  /** A piece that is sent after this begins no step: its timer would outlive the call. */
  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  #wait(ms: number, what: string): void {
    clearTimeout(this.#timer);
    if (this.#isOver) return;
    this.#timer = setTimeout(() => {
      this.#ended ??= 'too-slow';
      this.#words = `${what} within ${ms / 1_000} s`;
      this.#request?.destroy(new Error(this.#words));
    }, ms);
  }
}
