/** Tests that belong to the full size are no part of the small run: there they would be reported as skipped. */
import { it, type TestAPI } from 'vitest';

const leaveOut: unknown = () => undefined;

/** Returns `it`, or a function that defines no test. */
export const itIf = (isPartOfRun: boolean): TestAPI => (isPartOfRun ? it : (leaveOut as TestAPI));
