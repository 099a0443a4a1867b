/**
 * Answers that the originals gave to the programs of ../originals, call by call.
 *
 * worqr-1.2.3.json: droplit/worqr 1.2.3 (redis 2.8.0) on Redis 7.0. Record again with a checkout:
 *     LONGHAUL_RECORD=1 WORQR_CHECKOUT=<checkout> npx vitest run --project compat test/compat/originals/worqr-calls
 * blueque-1.0.0.json: ustudio/Blueque 1.0.0 (Python 3.11, redis 4.3.4) on Redis 7.0. Record again with a checkout:
 *     LONGHAUL_RECORD=1 BLUEQUE_CHECKOUT=<checkout> npx vitest run --project compat test/compat/originals/blueque-calls
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export type Recording = Readonly<Record<string, unknown>>;

export const worqrRecording = 'worqr-1.2.3.json';
export const recordedWorqr = (): Recording => read(worqrRecording);

const read = (file: string): Recording =>
  JSON.parse(readFileSync(join(import.meta.dirname, file), 'utf8')) as Recording;

export const bluequeRecording = 'blueque-1.0.0.json';
export const recordedBlueque = (): Recording => read(bluequeRecording);
