/** Messages for a directory or file that may not be written: the problem, the path, and the remedy. */
const MESSAGES: Readonly<Record<string, (path: string) => string>> = {
  EROFS: (path) =>
    `${path} is on a read-only file system (EROFS): mount it for writing, or choose another directory for the store`,
  EACCES: (path) =>
    `this user may not read and write ${path} (EACCES): change its owner (chown) or its mode (chmod), or run as its owner`,
  EPERM: (path) =>
    `the system does not permit changes in ${path} (EPERM): change its owner (chown) or its attributes (chattr), or run as its owner`,
};

/** Returns the message for an error code, or null if the code has another cause. */
export function accessErrorMessage(code: string, path: string): string | null {
  return MESSAGES[code]?.(path) ?? null;
}
