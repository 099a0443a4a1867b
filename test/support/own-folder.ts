/**
 * Global setup: a directory for all temporary files of the tests. It is removed with the run, whatever they left.
 *
 * Scripts outlive their node on purpose, so a run that is killed would leave theirs. A few lines of sh wait for the end of
 * the run, however it ends, then kill every process whose attempt is in this directory, and remove the directory.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// Three searches in a row must find nothing: a process that forks and exits escapes a single one.
export const GUARD = `
read -r _
empty=0
until [ $empty -eq 3 ]; do
  left=$(grep -alsF "LONGHAUL_ATTEMPT_MARK=$1" /proc/[0-9]*/environ | tr -dc '0-9\\n')
  if [ -z "$left" ]; then empty=$((empty + 1)); else empty=0; kill -9 $left; fi
  sleep 0.1
done 2>/dev/null
rm -rf "$1" || { sleep 1; rm -rf "$1"; }
`;

export function setup(): () => Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-tests-'));
  // Scripts that run as another user pass through it to their own directories.
  chmodSync(folder, 0o711);
  process.env['TMPDIR'] = folder;
  return guardFolder(folder);
}

/** Starts the guard; returns a function that ends the run for it and waits until it has cleaned up. */
export function guardFolder(folder: string): () => Promise<void> {
  // A session of its own, so that Ctrl-C in the terminal does not end it.
  const child = spawn('sh', ['-c', GUARD, 'guard', folder], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  const ended = once(child, 'exit');
  return async () => {
    child.stdin.end();
    await ended;
  };
}
