/** What the relay of an outbox reports to its `onEvent`. */
export type OutboxEvent =
  /** Jobs were added to the store. */
  | { readonly type: 'relayed'; readonly ids: readonly string[] }
  /** Another job holds the unique key of this one: its row was deleted, and no job was added. */
  | { readonly type: 'duplicate'; readonly id: string; readonly queue: string }
  /** The store refuses a job for now; it is tried again. */
  | {
      readonly type: 'delayed';
      readonly id: string;
      readonly queue: string;
      readonly error: string;
      readonly ms: number;
    }
  /** A row is invalid. It stays in the table until it is corrected. */
  | { readonly type: 'failed'; readonly id: string; readonly queue: string; readonly error: string }
  /** The database or the store does not answer; the relay tries again. Emitted once until `back`. */
  | { readonly type: 'away'; readonly error: unknown }
  | { readonly type: 'back' }
  /** Something that needs attention and does not stop the relay. */
  | { readonly type: 'trouble'; readonly what: string; readonly error: unknown };
