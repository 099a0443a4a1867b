/** The example receivers of docs/webhooks.md accept what the node signs, and nothing else. */
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { signedHeaders } from '../../src/node/webhooks/sign-webhook.ts';
import { spawnGuarded } from '../support/guarded-process.ts';

const page = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8');
const [OLD, NEW] = [1, 2].map((byte) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`) as [string, string];

const RECEIVERS = [
  { name: 'node', command: process.execPath, args: ['--input-type=module', '-e'] },
  { name: 'python', command: 'python3', args: ['-c'] },
] as const;

test.each(RECEIVERS)(
  'The receiver in $name checks signatures and ignores repeated ids.',
  async ({ name, command, args }) => {
    const [, text = ''] =
      new RegExp(`<!-- example: receiver-${name} -->\\n\`\`\`\\w+\\n([\\s\\S]*?)\`\`\``).exec(page) ?? [];
    const env = { ...process.env, HOOK_SECRET: OLD, PORT: '0' };
    const receiver = await spawnGuarded(command, [...args, text], { env });
    onTestFinished(async () => {
      receiver.signal('SIGKILL');
      await receiver.ended;
    });
    const lines = createInterface({ input: receiver.stdout })[Symbol.asyncIterator]();
    const nextLine = async (): Promise<string> => String((await lines.next()).value);
    const url = `http://127.0.0.1:${/^listens (\d+)$/.exec(await nextLine())?.[1]}/`;
    const body = JSON.stringify({ type: 'job.done', data: { job: 'ä' } });
    const call = async (id: string, secrets: readonly string[], { at = Date.now(), sent = body } = {}) => {
      const headers = signedHeaders({ id, at, body, secrets });
      return (await fetch(url, { method: 'POST', headers: { ...headers, connection: 'close' }, body: sent })).status;
    };
    expect(await call('msg_1', [NEW, OLD])).toBe(204);
    expect(await nextLine()).toBe('job.done ä');
    expect(await call('msg_1', [OLD])).toBe(204);
    expect(await call('msg_2', [NEW])).toBe(401);
    expect(await call('msg_3', [OLD], { sent: body.replace('done', 'lost') })).toBe(401);
    expect(await call('msg_4', [OLD], { at: Date.now() - 3_600_000 })).toBe(401);
    expect(await call('msg_5', [OLD])).toBe(204);
    expect(await nextLine()).toBe('job.done ä');
  },
);
