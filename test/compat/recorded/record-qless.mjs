/**
 * Records what the original qless.lua or reqless.lua answers and publishes, call by call, into a file of scenarios: one line of
 * JSON for its origin, for the title of each scenario, and for each call.
 *
 *     node test/compat/recorded/record-qless.mjs QLESS_LUA REDIS_URL test/compat/recorded/qless-core.jsonl
 *
 * The script and an empty Redis are the caller's: nothing of the original is kept here except its answers. The file names
 * the version that they came from.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createClient } from '@redis/client';

const [lua, url, path] = process.argv.slice(2);
const client = await createClient({ url }).connect();
const listener = await client.duplicate().connect();
let heard = [];
await listener.pSubscribe('*', (text, channel) => heard.push([channel, text]));
const sha = await client.scriptLoad(readFileSync(lua, 'utf8'));

const lines = [];
for (const line of readFileSync(path, 'utf8')
  .trim()
  .split('\n')
  .map((each) => JSON.parse(each))) {
  if (line.scenario !== undefined) await client.flushDb();
  lines.push(line.call === undefined ? line : await record(line.call));
}
writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
await listener.close();
await client.close();

async function record(call) {
  heard = [];
  const answer = await client.evalSha(sha, { arguments: call.map(text) }).then(
    (reply) => ({ answer: parsed(reply) }),
    // Without the place in the script.
    (error) => ({ error: String(error.message).replace(/^(ERR )?user_script:\d+: |\s*script: [0-9a-f]+.*$/g, '') }),
  );
  await client.publish('end', '');
  while (!heard.some(([channel]) => channel === 'end')) await new Promise((resolve) => setTimeout(resolve, 1));
  const messages = heard.filter(([channel]) => channel !== 'end').map(([channel, message]) => `${channel} ${message}`);
  return { call, ...answer, ...(messages.length > 0 && { heard: messages }) };
}

function text(argument) {
  return typeof argument === 'object' ? JSON.stringify(argument) : String(argument);
}

function parsed(reply) {
  if (typeof reply !== 'string') return reply;
  try {
    return JSON.parse(reply);
  } catch {
    return reply;
  }
}
