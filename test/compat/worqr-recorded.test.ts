/** Worqr's compat layer gives the answers and events that Worqr 1.2.3 gave (recorded/recordings.ts), but for the differences listed here. */
import { expect, test } from 'vitest';
import type { WorqrOptions } from '../../src/compat/worqr/index.ts';
import { Worqr } from '../../src/compat/worqr/index.ts';
import type { Longhaul } from '../../src/library/index.ts';
import type { WorqrEvent, WorqrHost } from './originals/worqr-program.ts';
import { runProgram } from './originals/worqr-program.ts';
import { overStores } from './over-stores.ts';
import { recordedWorqr } from './recorded/recordings.ts';
import { withDifferences } from './recorded/with-differences.ts';

const DIFFERENCES = {
  'a cancel, 7: A.finishProcess("<process 8>")': {
    answers: { answer: null },
    because: 'a cancelled task ends as cancelled when its process is finished; it does not become done',
  },
  'a cancel, 8: A.cancelTasks("Q3","not there")': {
    answers: { answer: null },
    because: 'a cancel that finds no task emits no event',
  },
  'a stop, 4: A.stopProcess("<process 9>")': {
    answers: { answer: null, heard: ['A hears work 2'] },
    because: 'returned work is announced, as the document promises',
  },
  'a stop, 5: A.getTasks("Q4")': {
    answers: { answer: ['S2', 'S1'] },
    because: 'returned work goes to the front, as the document promises',
  },
  'a stop, 6: A.finishProcess("Q4_no-such-process")': {
    answers: { answer: 'rejects' },
    because: 'a process ends once, by the worker that holds it',
  },
};

overStores('Worqr', (open) => {
  test('worqr recorded: every call answers, and every event comes, as in the original', async () => {
    const host = hostOurs(open);
    try {
      expect(await runProgram(host)).toEqual(withDifferences(recordedWorqr(), DIFFERENCES));
    } finally {
      await host.close();
    }
  });
});

function hostOurs(open: () => Promise<Longhaul>): WorqrHost & { close(): Promise<unknown> } {
  const [peers, events]: [Map<string, Worqr>, WorqrEvent[]] = [new Map(), []];
  return {
    events,
    async call(peer, method, ...args) {
      if (method === 'open')
        return void peers.set(peer, new Worqr({ longhaul: await open() }, args[0] as WorqrOptions));
      const worqr = peers.get(peer);
      if (worqr === undefined) throw new Error(`peer ${peer} is not open`);
      const [queue = ''] = args as readonly string[];
      if (method === 'listen')
        return void worqr.on(queue, (type: string, message: string) => events.push({ peer, queue, type, message }));
      const call = Reflect.get(worqr, method) as (...given: readonly unknown[]) => Promise<unknown>;
      return (await call.apply(worqr, [...args])) ?? null;
    },
    close: () => Promise.all([...peers.values()].map((worqr) => worqr.close())),
  };
}
