/** What the runner process and its parent say to each other. */
import type { ShimStart } from './order.ts';

export type ToRunner = { readonly type: 'start'; readonly id: number; readonly shim: ShimStart };

export type FromRunner =
  /** It listens. */
  | { readonly type: 'ready' }
  | { readonly type: 'spawned'; readonly id: number; readonly pid: number }
  /** Nothing was started: too long an argument list, no more processes, a folder that is not there. */
  | { readonly type: 'refused'; readonly id: number; readonly message: string }
  /** The shim is no more. What became of the attempt is in its files. */
  | { readonly type: 'gone'; readonly id: number };
