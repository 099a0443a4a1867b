/**
 * The renewer's thread: opens the store by itself and keeps the leases of every worker of this process that shares it.
 *
 * It must never wait for the main thread, which may be blocked for as long as a handler likes.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { Store } from '../../core/ports/store.ts';
import { LeaseBeats } from './heartbeats.ts';
import type { FromLeaseRenewer, ToLeaseRenewer } from './thread-lease-renewer.ts';

interface StoreModule {
  openStore(options: unknown): Store | Promise<Store>;
}

const { module, options } = workerData as { module: string; options: unknown };
const port = parentPort;
if (port === null) throw new Error('keeper-thread.js is started as a thread and not as a program');
const say = (message: FromLeaseRenewer): void => port.postMessage(message);
const renewers = new Map<number, LeaseBeats>();

const kill = (): void => {
  process.kill(process.pid, 'SIGKILL');
};

async function serve(store: Store, message: ToLeaseRenewer): Promise<void> {
  switch (message.kind) {
    case 'open': {
      const { key, plan } = message;
      const tell = (news: (FromLeaseRenewer & { kind: 'news' })['news']) =>
        say({ kind: 'news', key, news: portable(news) });
      const beats = new LeaseBeats({ plan, jobs: store.jobs, tell, kill });
      renewers.set(key, beats);
      return beats.start();
    }
    case 'say':
      return renewers.get(message.key)?.say(message.saying);
    case 'rename':
      return renewers.get(message.key)?.rename(message.id);
    case 'close':
      await renewers.get(message.key)?.close();
      renewers.delete(message.key);
      return say({ kind: 'closed', key: message.key });
    case 'end':
      await store.close();
      return port?.close();
  }
}

/** An error's class does not survive the way to another thread; its words do. */
function portable<News extends { kind: string; error?: unknown }>(news: News): News {
  return 'error' in news ? { ...news, error: new Error(String((news.error as Error)?.message ?? news.error)) } : news;
}

try {
  const { openStore } = (await import(module)) as StoreModule;
  const store = await openStore(options);
  port.on('message', (message: ToLeaseRenewer) => void serve(store, message));
  say({ kind: 'ready' });
} catch (error) {
  say({
    kind: 'failed',
    message: String((error as Error)?.message ?? error),
    code: (error as { code?: string })?.code ?? null,
  });
  port.close();
}
