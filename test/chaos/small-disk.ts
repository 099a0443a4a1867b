/**
 * A disk of its own for a run: an ext4 file system in a file, mounted in a mount namespace that ends with the process. The
 * loop device is released with the mount.
 */
import { spawnSync } from 'node:child_process';

/** Room and inodes for the jobs of half an hour. Makes and mounts the disk, then becomes the program. Arguments: the file, the mount point, the program. */
const MOUNT = `
truncate -s ${2_048}M "$1" && mkfs.ext4 -q -F -m 0 -i 8192 "$1" && mkdir -p "$2" && mount -o loop "$1" "$2" || exit 97
shift 2
exec "$@"
`;

/** Whether this process may mount a disk. */
export function canMount(): boolean {
  const tools = 'command -v unshare mount mkfs.ext4 fallocate losetup >/dev/null && losetup -f >/dev/null 2>&1';
  return process.platform === 'linux' && process.getuid?.() === 0 && spawnSync('sh', ['-c', tools]).status === 0;
}

/** Returns the command that runs a program with the disk mounted. */
export function withSmallDisk(file: string, mountPoint: string, command: readonly string[]): readonly string[] {
  return ['unshare', '-m', 'sh', '-c', MOUNT, 'sh', file, mountPoint, ...command];
}
