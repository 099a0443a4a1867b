/** Paths of a node's data directory. Never touches the disk. */
import { join } from 'node:path';

export interface Home {
  readonly root: string;
  readonly database: string;
  readonly queues: string;
  /** RQ's directory: `queue/<name>/config.json` defines a queue, `form.json` its form. */
  readonly rqQueues: string;
  /** RQ's directory of scripts. */
  readonly code: string;
  readonly jobs: string;
  readonly blobs: string;
  readonly settings: string;
  readonly journal: string;
  readonly lock: string;
}

export function homeAt(root: string): Home {
  return {
    root,
    database: join(root, 'store.db'),
    queues: join(root, 'queues'),
    rqQueues: join(root, 'queue'),
    code: join(root, 'code'),
    jobs: join(root, 'jobs'),
    blobs: join(root, 'blobs'),
    settings: join(root, 'node.json'),
    journal: join(root, 'journal'),
    lock: join(root, 'node.lock'),
  };
}

export function jobFolder(home: Home, id: string): string {
  return join(home.jobs, id);
}

export function attemptFolder(home: Home, id: string, attempt: number): string {
  return join(home.jobs, id, 'attempts', String(attempt));
}

/** Returns the directories whose executables may run as scripts: those of the data directory, and the configured ones. */
export function scriptFolders(home: Home, configured: readonly string[]): readonly string[] {
  return [home.queues, home.code, ...configured];
}
