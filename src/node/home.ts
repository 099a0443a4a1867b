/** Paths of a node's data directory. Never touches the disk. */
import { join } from 'node:path';

export interface Home {
  readonly root: string;
  readonly database: string;
  readonly queues: string;
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
