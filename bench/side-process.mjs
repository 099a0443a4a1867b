/**
 * One side of a measurement in a process of its own, so that sides share neither heap nor compiled code.
 *
 * Started by frame/run-side.mjs with an IPC channel: receives { module, place, action, options }, sends { answer } or
 * { error }, and may send { ready } and { progress } before; it waits for { step } where an action asks for one.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import * as drive from './drive.mjs';
import * as long from './long-drive.mjs';
import * as scale from './scale.mjs';

const actions = { ...drive, ...scale, ...long };

process.once('message', (task) => void answer(task));
/** Resolves with the next message of the parent, which has the name of a step. */
const step = (name) =>
  new Promise((resolve) => {
    process.on('message', (message) => {
      if (message.step === name) resolve();
    });
  });

async function answer({ module, place, action, options }) {
  try {
    const contender = await import(`./contenders/${module}.mjs`);
    const result = await perform(contender, { place, action, options });
    process.send({ answer: result }, () => process.exit(0));
  } catch (error) {
    const { message = String(error), stack } = error ?? {};
    process.send({ error: { message, stack } }, () => process.exit(1));
  }
}

async function perform(contender, { place, action, options }) {
  const session = await contender.open(place);
  const onReady = () => process.send({ ready: true });
  const onProgress = (count) => process.send({ progress: count });
  // A second store of the same kind, for measurements that compare two.
  const openBeside = (name) => contender.open(placeBeside(place, name));
  const result = await actions[action](session, { ...options, onReady, onProgress, step, openBeside });
  await session.close();
  return result;
}

function placeBeside(place, name) {
  if (place.folder === undefined) return { ...place, namespace: name };
  const folder = join(place.folder, name);
  mkdirSync(folder);
  return { ...place, folder };
}
