/** `longhaul serve`: works the queues of a home folder until it is told to stop. Scripts outlive it. */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { connect } from '../library/index.ts';
import { nodeSettings } from '../node/node-settings.ts';
import type { NodeNews } from '../node/open-node.ts';
import { openNode } from '../node/open-node.ts';
import type { Command } from './command.ts';
import { homeOf, read } from './command.ts';

export const serveCommand: Command = {
  usage: 'serve [--home FOLDER] [--store URL]',
  about:
    'Works the queues of a home folder: each executable file in FOLDER/queues is a queue of that name.\nTERM or Ctrl-C stops it; running scripts go on, and the next serve takes them up.',
  example: 'longhaul serve --home ./longhaul',
  async run(words) {
    const { values } = read(words, { store: { type: 'string' } });
    const home = homeOf(values.home);
    const longhaul = await connect(values.store ?? process.env['LONGHAUL_STORE'] ?? home.root);
    const node = await openNode({
      home,
      store: longhaul.store,
      settings: nodeSettings(readIfThere(home.settings)),
      version: versionOfPackage(),
      host: hostname(),
      pid: process.pid,
      inherited: process.env,
      onNews: say,
    }).catch(async (error: unknown) => {
      await longhaul.close();
      throw error;
    });
    console.log(`longhaul serves ${home.root}`);
    for (const [queue, problem] of node.queues())
      console.log(`queue ${queue}${problem === null ? '' : `: ${problem}`}`);
    if (node.queues().size === 0) console.log(`no queues yet: put an executable file into ${home.queues}`);
    await toldToStop(() => node.reload());
    console.log('stopping: running scripts go on and are taken up by the next serve');
    await node.stop();
    await longhaul.close();
    return 0;
  },
};

/** HUP looks at the queues again. */
function toldToStop(reload: () => Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    process.on('SIGHUP', () => void reload());
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve());
  });
}

function say(news: NodeNews): void {
  if (news.type === 'adopted') console.log(`took up ${news.jobs} running ${news.jobs === 1 ? 'job' : 'jobs'}`);
  if (news.type === 'trouble')
    console.error(`trouble: ${news.what}${news.error === null ? '' : `: ${inWords(news.error)}`}`);
  if (news.type === 'queue') {
    console.log(`queue ${news.queue}: ${news.problem ?? 'ready'}`);
    for (const notice of news.notices) console.log(`queue ${news.queue}: ${notice}`);
  }
  if (news.type === 'worker') sayOfWorker(news.event);
}

function sayOfWorker(event: (NodeNews & { type: 'worker' })['event']): void {
  if (event.type === 'ended') {
    const how = event.settlement?.kind ?? event.stopReason ?? 'lost';
    console.log(`job ${event.job.id} of ${event.job.queue}, attempt ${event.job.attempt}: ${how}`);
  }
  if (event.type === 'trouble') console.error(`trouble: ${event.what}: ${inWords(event.error)}`);
}

function inWords(error: unknown): string {
  return error instanceof Error ? error.message : JSON.stringify(error);
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function versionOfPackage(): string {
  const json = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(json) as { version: string }).version;
}
