/** What the runner process and its parent say to each other. */
import type { ShimOrder } from './order.ts';

export type ToRunner =
  /** To be carried out by a new shim. */
  | { readonly type: 'start'; readonly id: number; readonly order: ShimOrder }
  /** That attempt's shim hears its parent's own orders from now on (shim-line.ts). */
  | { readonly type: 'stand'; readonly id: number }
  /** Nobody has another attempt for that one's shim. */
  | { readonly type: 'end'; readonly id: number };

export type FromRunner =
  /** It listens. */
  | { readonly type: 'ready' }
  /** A shim has the order. Not said of one that is gone before it could be. */
  | { readonly type: 'spawned'; readonly id: number }
  /** Nothing was started: there is no room for another process. */
  | { readonly type: 'refused'; readonly id: number; readonly message: string }
  /** The shim is done with it, or is no more. What became of the attempt is in its files. */
  | { readonly type: 'gone'; readonly id: number };
