/**
 * Starts side-process.mjs for one action of one contender, and kills it after a time limit.
 */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../side-process.mjs', import.meta.url));
const usualLimitMs = 10 * 60_000;
const alive = new Set();

export const runSide = (task) => startSide(task).answer;

/** `ready` resolves when the side reports it, `answer` when the side has ended; `next` lets it go on to a step. */
export function startSide({ module, place, action, options, onProgress = () => {} }) {
  const child = fork(program, {
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  alive.add(child);
  let stderr = '';
  child.stderr.on('data', (chunk) => (stderr = (stderr + chunk).slice(-4_000)));
  let onReady = () => {};
  const ready = new Promise((resolve) => (onReady = resolve));
  const answer = receiveAnswer(child, {
    onReady,
    onProgress,
    output: () => stderr,
    limitMs: options.limitMs ?? usualLimitMs,
  });
  child.send({ module, place, action, options });
  const readyOrOver = Promise.race([ready, answer]);
  // A caller awaits one of the two; the other one must not raise an unhandled rejection.
  for (const each of [readyOrOver, answer]) each.catch(() => {});
  const next = (step) => child.connected && child.send({ step });
  return { ready: readyOrOver, answer, next, kill: () => child.kill('SIGKILL') };
}

function receiveAnswer(child, { onReady, onProgress, output, limitMs }) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), limitMs);
    let received;
    child.on('message', (message) => {
      if (message.ready) onReady();
      else if (message.progress !== undefined) onProgress(message.progress);
      else received = message;
    });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      alive.delete(child);
      const failure = received?.error ?? {
        message: `the process exited with ${signal ?? code} and no result\n${output()}`,
      };
      if (received?.answer) resolve(received.answer);
      else reject(new Error(failure.message, { cause: failure.stack }));
    });
  });
}

/** Kills all sides at the end of the run. */
export function endSides() {
  for (const child of alive) child.kill('SIGKILL');
}
