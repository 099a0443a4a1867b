/** The file of a result that is too large for the store, and what the store holds in its place. */

export const RESULT_NAME = 'result.json';

/** Replaces a result that is too large for the store. */
export const LARGE_RESULT = JSON.stringify({ attachment: RESULT_NAME });
