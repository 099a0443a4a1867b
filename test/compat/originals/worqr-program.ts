/**
 * Calls of Worqr's API and the answers and events they give, as lines that can be compared. The same program runs with the
 * original and with the compat layer. Ids of processes are numbered in their order; errors are reduced to "rejects".
 */

export interface WorqrHost {
  /** Calls a method of a peer; `open` creates it with options, `listen` attaches a listener to a queue. */
  call(peer: string, method: string, ...args: readonly unknown[]): Promise<unknown>;
  /** Every event so far, in the order of each peer. */
  readonly events: readonly WorqrEvent[];
}

export interface WorqrEvent {
  readonly peer: string;
  readonly queue: string;
  readonly type: string;
  readonly message: string;
}

/** The answers by step: `scenario: peer.method(args)`, with the events that followed. */
export type Answers = Readonly<Record<string, unknown>>;
type Ask = (peer: string, method: string, ...args: readonly unknown[]) => Promise<unknown>;

const FENCE = 'fence';
const EVENT_DEADLINE_MS = 10_000;

const SCENARIOS: Readonly<Record<string, (ask: Ask) => Promise<void>>> = {
  'an empty queue': async (ask) => {
    await ask('A', 'countQueue', 'Q0');
    await ask('A', 'peekQueue', 'Q0');
    await ask('A', 'getTasks', 'Q0');
    await ask('A', 'startWork', 'Q0');
    await ask('A', 'dequeue', 'Q0');
    await ask('A', 'getMatchingProcesses', 'none');
  },
  tasks: async (ask) => {
    await ask('A', 'enqueue', 'Q1', 'T1');
    await ask('A', 'enqueue', 'Q1', ['T2', 'T3']);
    await ask('A', 'getTasks', 'Q1');
    await ask('A', 'peekQueue', 'Q1');
    await ask('A', 'countQueue', 'Q1');
    await ask('A', 'startWork', 'Q1');
    await ask('A', 'enqueue', 'Q1', 'T4');
    await ask('A', 'enqueue', 'Q1', ['T5', 'T6']);
    await ask('A', 'requestWork', 'Q1');
    const first = await ask('A', 'dequeue', 'Q1');
    await ask('A', 'getMatchingProcesses', 'T1');
    await ask('A', 'finishProcess', idOf(first), { made: 1 });
    await ask('A', 'getMatchingProcesses', 'T1');
    const second = await ask('A', 'dequeue', 'Q1');
    await ask('A', 'finishProcess', idOf(second));
    for (const _ of ['T3', 'T4', 'T5', 'T6']) await ask('A', 'finishProcess', idOf(await ask('A', 'dequeue', 'Q1')));
    await ask('A', 'dequeue', 'Q1');
  },
  'unique tasks': async (ask) => {
    await ask('A', 'startWork', 'Q2');
    await ask('A', 'enqueue', 'Q2', 'U', true);
    await ask('A', 'enqueue', 'Q2', 'U', true);
    await ask('A', 'enqueue', 'Q2', ['U1', 'U2'], true);
    await ask('A', 'enqueue', 'Q2', 'U');
    await ask('A', 'countQueue', 'Q2');
    const first = await ask('A', 'dequeue', 'Q2');
    await ask('A', 'enqueue', 'Q2', 'U', true);
    await ask('A', 'finishProcess', idOf(first));
    await ask('A', 'enqueue', 'Q2', 'U', true);
    await ask('A', 'getTasks', 'Q2');
  },
  'a cancel': async (ask) => {
    await ask('A', 'startWork', 'Q3');
    await ask('A', 'enqueue', 'Q3', ['C', 'D', 'C', 'C']);
    const running = await ask('A', 'dequeue', 'Q3');
    await ask('A', 'cancelTasks', 'Q3', 'C');
    await ask('A', 'getTasks', 'Q3');
    await ask('A', 'getMatchingProcesses', 'C');
    await ask('A', 'finishProcess', idOf(running));
    await ask('A', 'cancelTasks', 'Q3', 'not there');
  },
  'a stop': async (ask) => {
    await ask('A', 'startWork', 'Q4');
    await ask('A', 'enqueue', 'Q4', ['S1', 'S2']);
    const process = await ask('A', 'dequeue', 'Q4');
    await ask('A', 'stopProcess', idOf(process));
    await ask('A', 'getTasks', 'Q4');
    await ask('A', 'finishProcess', 'Q4_no-such-process');
    await ask('A', 'deleteQueue', 'Q4');
    await ask('A', 'countQueue', 'Q4');
    await ask('A', 'stopWork', 'Q4');
    await ask('A', 'enqueue', 'Q4', 'after');
    await ask('A', 'dequeue', 'Q4');
  },
  'a failed worker': async (ask) => {
    await ask('B', 'startWorker');
    await ask('B', 'startWork', FENCE);
    await ask('B', 'startWork', 'Q5');
    await ask('B', 'getWorkers');
    await ask('B', 'enqueue', 'Q5', 'F');
    await ask('B', 'dequeue', 'Q5');
    await ask('B', 'failWorker');
    await ask('B', 'getWorkers');
    await ask('B', 'getTasks', 'Q5');
    await ask('B', 'dequeue', 'Q5');
  },
};

export async function runProgram(host: WorqrHost): Promise<Answers> {
  const answers: Record<string, unknown> = {};
  for (const id of ['A', 'B']) await host.call(id, 'open', { workerId: id, redisKeyPrefix: 'program' });
  for (const queue of ['Q0', 'Q1', 'Q2', 'Q3', 'Q4', FENCE]) await host.call('A', 'listen', queue);
  await host.call('B', 'listen', 'Q5');
  const processes: string[] = [];
  for (const [scenario, run] of Object.entries(SCENARIOS)) {
    if (scenario === 'tasks') {
      await host.call('A', 'startWorker');
      await host.call('A', 'startWork', FENCE);
    }
    let number = 0;
    await run(async (peer, method, ...args) => {
      const { length: before } = host.events;
      const given = await host.call(peer, method, ...args).catch(() => 'rejects');
      // Redis keeps workers in a set, which has no order.
      const answer = method === 'getWorkers' ? (given as string[]).toSorted() : given;
      const id = idOf(answer);
      if (id !== '' && !processes.includes(id)) processes.push(id);
      if (scenario !== 'an empty queue') await fence(host, 'A');
      const events = host.events.slice(before).filter(({ queue }) => queue !== FENCE);
      const heard = events.map((event) => `${event.peer} hears ${event.type} ${event.message}`);
      number += 1;
      const line = numbered(
        `${scenario}, ${number}: ${peer}.${method}(${JSON.stringify(args).slice(1, -1)})`,
        processes,
      );
      const outcome = heard.length === 0 ? { answer } : { answer, heard };
      answers[line] = JSON.parse(numbered(JSON.stringify(outcome), processes));
      return answer;
    });
  }
  return answers;
}

/** Waits until the peer has heard everything that was published before: its own event comes after all of that. */
async function fence(host: WorqrHost, peer: string): Promise<void> {
  // The original publishes the answer of requestWork after another call: this one is answered after it.
  await host.call(peer, 'countQueue', FENCE);
  const heard = () => host.events.filter((event) => event.queue === FENCE && event.peer === peer).length;
  const before = heard();
  await host.call(peer, 'enqueue', FENCE, 'x');
  for (const deadline = Date.now() + EVENT_DEADLINE_MS; heard() === before; ) {
    if (Date.now() > deadline) throw new Error(`peer ${peer} did not hear of the fence`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

const idOf = (answer: unknown): string =>
  typeof answer === 'object' && answer !== null && 'id' in answer ? String(answer.id) : '';

const numbered = (text: string, processes: readonly string[]): string =>
  processes.reduce((all, id, at) => all.replaceAll(id, `<process ${at + 1}>`), text);
