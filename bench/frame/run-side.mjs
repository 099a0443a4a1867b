/**
 * Starts side-process.mjs for one action of one contender, and ends it when it takes too long.
 */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../side-process.mjs', import.meta.url));
const limitMs = 10 * 60_000;
const alive = new Set();

export const runSide = (task) => startSide(task).answer;

/** `ready` is resolved when the side says so, `answer` when it has ended. */
export function startSide({ module, place, action, options }) {
  const child = fork(program, {
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  alive.add(child);
  let said = '';
  child.stderr.on('data', (chunk) => (said = (said + chunk).slice(-4_000)));
  let onReady = () => {};
  const ready = new Promise((resolve) => (onReady = resolve));
  const answer = hear(child, { onReady, words: () => said });
  child.send({ module, place, action, options });
  const readyOrOver = Promise.race([ready, answer]);
  // Who waits for one of the two hears of a failure there; the other one must not be taken for forgotten.
  for (const each of [readyOrOver, answer]) each.catch(() => {});
  return { ready: readyOrOver, answer };
}

function hear(child, { onReady, words }) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), limitMs);
    let heard;
    child.on('message', (message) => (message.ready ? onReady() : (heard = message)));
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      alive.delete(child);
      const failure = heard?.error ?? { message: `the process ended with ${signal ?? code} and no answer\n${words()}` };
      if (heard?.answer) resolve(heard.answer);
      else reject(new Error(failure.message, { cause: failure.stack }));
    });
  });
}

/** For the end of the whole run: no side is left behind. */
export function endSides() {
  for (const child of alive) child.kill('SIGKILL');
}
