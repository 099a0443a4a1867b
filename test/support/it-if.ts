/** Tests that belong to the full size are no part of the small run: there they would be reported as skipped. */
import { it, type TestAPI } from 'vitest';

const leaveOut: unknown = () => undefined;

/** Returns `define`, a function that defines tests, or one that defines none. */
export const partIf = <T>(isPartOfRun: boolean, define: T): T => (isPartOfRun ? define : (leaveOut as T));

/** Returns `it`, or a function that defines no test. */
export const itIf = (isPartOfRun: boolean): TestAPI => partIf(isPartOfRun, it);
