/** Words for a folder or file that may not be written: what is wrong, where, and the remedy. */
const WORDS: Readonly<Record<string, (place: string) => string>> = {
  EROFS: (place) =>
    `${place} is on a read-only file system (EROFS): mount it for writing, or name another folder for the store`,
  EACCES: (place) =>
    `this user may not read and write ${place} (EACCES): change its owner (chown) or its mode (chmod), or run as its owner`,
  EPERM: (place) =>
    `the system does not permit changes in ${place} (EPERM): change its owner (chown) or its attributes (chattr), or run as its owner`,
};

/** Returns null for an error code that is about something else. */
export function noAccessWords(code: string, place: string): string | null {
  return WORDS[code]?.(place) ?? null;
}
