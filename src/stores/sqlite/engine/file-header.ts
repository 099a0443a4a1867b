/** Reads application id and schema version from the header of a SQLite file, without opening it as a database. */
import { closeSync, openSync, readSync } from 'node:fs';

export interface FileHeader {
  readonly applicationId: number;
  readonly userVersion: number;
}

const MAGIC = 'SQLite format 3\0';
/** https://www.sqlite.org/fileformat.html#the_database_header */
const HEADER_BYTES = 100;
const [USER_VERSION_AT, APPLICATION_ID_AT] = [60, 68];

/**
 * Returns null for a file that is not a SQLite database.
 *
 * A write-ahead log may contain a newer header. So this one can only prove that a file is unusable; a file that passes is
 * checked again after opening.
 */
export function readHeader(path: string): FileHeader | null {
  const bytes = Buffer.alloc(HEADER_BYTES);
  const file = openSync(path, 'r');
  try {
    if (readSync(file, bytes, 0, HEADER_BYTES, 0) < HEADER_BYTES) return null;
  } finally {
    closeSync(file);
  }
  if (bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) return null;
  return { applicationId: bytes.readUInt32BE(APPLICATION_ID_AT), userVersion: bytes.readUInt32BE(USER_VERSION_AT) };
}
