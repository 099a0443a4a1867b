import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { filesOf } from '../../runner/attempt/attempt-files.ts';
import { readLogIndex } from '../../runner/log/log-index.ts';
import { openMemoryStore } from '../../stores/memory/open-memory-store.ts';
import { StoredLogCopies } from './stored-log-copies.ts';

it('follows a log in the store, also when it is cut, and gives readers its generation', async () => {
  const root = mkdtempSync(join(tmpdir(), 'longhaul-copies-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const store = openMemoryStore();
  await store.records.put({
    kind: 'queue',
    key: 'q',
    value: JSON.stringify({ storedLogs: { attempt: 5_000, queue: 100_000 } }),
  });
  await store.jobs.add([{ id: 'a', queue: 'q', data: '{}' }]);
  const { jobs } = await store.jobs.claim({ worker: 'w', queues: ['q'], limit: 1, requestId: '1' });
  const token = jobs[0]?.lease?.token ?? 0;
  let offset = 0;
  const write = async (text: string): Promise<void> => {
    await store.logs.append({ id: 'a', token, offset, text });
    offset += text.length;
  };
  const copies = new StoredLogCopies(store, async () => root);
  expect(await copies.refresh('a', 1)).toBeNull();
  await write('first\n');
  const folder = (await copies.refresh('a', 1)) ?? '';
  const shown = (): string => readFileSync(filesOf(folder).log, 'utf8');
  expect(shown()).toBe('first\n');
  for (let line = 0; line < 300; line += 1) {
    await write(`${String(line).padEnd(99)}\n`);
    if (line % 37 !== 20) continue;
    await Promise.all([copies.refresh('a', 1), copies.refresh('a', 1)]);
    expect(shown()).toBe((await store.logs.read({ id: 'a', attempt: 1, from: 0 }))?.text);
  }
  expect(await copies.refresh('a', 1)).toBe(folder);
  const page = await store.logs.read({ id: 'a', attempt: 1, from: 0 });
  expect(shown()).toBe(page?.text);
  const { generation, head, dropped } = readLogIndex(filesOf(folder).logIndex);
  expect({ generation, head, dropped }).toEqual({
    generation: page?.generation,
    head: page?.head,
    dropped: page?.dropped,
  });
  expect(generation).toBeGreaterThan(1);
});
