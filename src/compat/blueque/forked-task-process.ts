/** Runs one task of a ForkingRunner in a process of its own: starts it, calls the callback and settles it. */
import { pathToFileURL } from 'node:url';
import { Client } from './client.ts';

interface Order {
  readonly address: NonNullable<Client['address']>;
  readonly id: string;
  readonly callback: string;
}

interface Callback {
  /** Returns the result, which is stored as text. */
  run(parameters: string, task: unknown): Promise<string | number | null | undefined>;
}

const order = JSON.parse(process.argv[2] ?? '{}') as Order;
const client = new Client(order.address.url, order.address.options);
const task = await client.getTask(order.id);
const processor = client.getProcessor(task);
const parameters = await processor.start(process.pid);
try {
  const address = order.callback.startsWith('file:') ? order.callback : pathToFileURL(order.callback).href;
  const callback = (await import(address)) as Callback;
  await processor.complete(String((await callback.run(parameters, task)) ?? ''));
} catch (error) {
  await processor.fail(error instanceof Error ? error.message : String(error));
} finally {
  await client.close();
}
