/** What the runner process and its parent say to each other. */
import type { ShimOrder } from './order.ts';

export type ToRunner =
  | { readonly type: 'start'; readonly id: number; readonly order: ShimOrder }
  /** Nobody will look at that attempt's shim any more: it may be given another one, unless it is spent. */
  | { readonly type: 'let-go'; readonly id: number; readonly isSpent: boolean };

export type FromRunner =
  /** It listens. */
  | { readonly type: 'ready' }
  /** A shim has the order. Not said of one that is gone before it could be. */
  | { readonly type: 'spawned'; readonly id: number }
  /** Nothing was started: no more processes, a folder that is not there. */
  | { readonly type: 'refused'; readonly id: number; readonly message: string }
  /** The shim is done with it, or is no more. What became of the attempt is in its files. */
  | { readonly type: 'gone'; readonly id: number };
