/** Checks a data directory: owner, permissions, disk, file system, and whether its settings are valid. */
import { lstatSync, readdirSync, readFileSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { LonghaulError } from '../../core/ports/errors.ts';
import type { Home } from '../home.ts';
import { nodeSettings } from '../node-settings.ts';
import { readQueueFolder } from '../queues/queue-folder.ts';
import type { Finding } from './finding.ts';
import { fault, fine, note, warning } from './finding.ts';
import { unsafePaths } from './home-safety.ts';

const GIB = 1024 ** 3;
const MIB = 1024 ** 2;
const FULL_BYTES = 16 * MIB;
const NETWORKED = /^(nfs|nfs4|cifs|smb\d*|smbfs|9p|ceph|glusterfs|afs|ncpfs|lustre|fuse\.(sshfs|s3fs|glusterfs))$/;
const VOLATILE = /^(tmpfs|ramfs)$/;
const ACCESSIBLE_BY_OTHERS = 0o077;
/** Lock and socket are as safe as their directory. Directories may be searchable where scripts run as another user. */
const CHECKED_BELOW = ['', 'queues'];
const MAX_LISTED = 5;

export async function checkHome(home: Home, uid: number): Promise<readonly Finding[]> {
  return [...checkPermissions(home, uid), ...checkDisk(home), ...checkSettings(home), ...(await checkQueues(home))];
}

export function checkPermissions(home: Home, uid: number): readonly Finding[] {
  const about = 'permissions';
  const unsafe = unsafePaths(home, uid).map(({ path, problem, cure, isWritableByOthers }) =>
    (isWritableByOthers ? fault : warning)(about, `${path} ${problem}`, cure),
  );
  const files = CHECKED_BELOW.flatMap((folder) => ownFiles(join(home.root, folder)));
  const open = files.filter(({ mode }) => (mode & ACCESSIBLE_BY_OTHERS) !== 0 && (mode & 0o111) === 0);
  const foreign = files.filter((file) => file.uid !== uid);
  const found = [
    ...unsafe,
    ...several(open, (paths) => warning(about, `other users may read ${paths}`, `chmod 0600 ${paths}`)),
    ...several(foreign, (paths) => fault(about, `${paths}: not owned by user ${uid}`, `chown ${uid} ${paths}`)),
  ];
  return found.length > 0 ? found : [fine(about, `${home.root} is not accessible to other users`)];
}

interface OwnFile {
  readonly path: string;
  readonly mode: number;
  readonly uid: number;
}

function ownFiles(folder: string): readonly OwnFile[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    return stat?.isFile() === true ? [{ path, mode: stat.mode, uid: stat.uid }] : [];
  });
}

function several(files: readonly OwnFile[], finding: (paths: string) => Finding): readonly Finding[] {
  if (files.length === 0) return [];
  const listed = files.slice(0, MAX_LISTED).map(({ path }) => path);
  return [finding(`${listed.join(' ')}${files.length > MAX_LISTED ? ` and ${files.length - MAX_LISTED} more` : ''}`)];
}

export function checkDisk({ root, database }: Home): readonly Finding[] {
  const { bavail, bsize, blocks } = statfsSync(root);
  const [free, total] = [bavail * bsize, blocks * bsize];
  const space = `${Math.floor(free / MIB)} MB of ${Math.floor(total / MIB)} MB are free under ${root}`;
  const cure = 'free disk space: shorten retention (longhaul queue settings), delete old backups or other files';
  return [...fullness(), ...ballast(), ...fileSystem(root)];

  function fullness(): readonly Finding[] {
    if (free < FULL_BYTES) return [fault('disk', `the disk is full: ${space}; new jobs are refused`, cure)];
    if (free < GIB && free < total / 20) return [warning('disk', `the disk is nearly full: ${space}`, cure)];
    return [fine('disk', space)];
  }

  /** The ballast is released when the disk is full, and restored automatically. */
  function ballast(): readonly Finding[] {
    const isStore = statSync(database, { throwIfNoEntry: false }) !== undefined;
    const isThere = statSync(join(root, 'ballast'), { throwIfNoEntry: false }) !== undefined;
    if (!isStore || isThere) return [];
    return [
      warning(
        'disk',
        'the ballast is missing: the disk was full, and may still be',
        `${cure}; the ballast is restored automatically`,
      ),
    ];
  }
}

function fileSystem(root: string): readonly Finding[] {
  const type = fileSystemOf(root, readFileSync('/proc/self/mountinfo', 'utf8'));
  if (NETWORKED.test(type))
    return [
      warning(
        'file-system',
        `${root} is on a network file system (${type}), where locks and fsync cannot be relied on`,
        'move the data directory to a local disk, or keep the jobs in Redis: --store redis://…',
      ),
    ];
  if (VOLATILE.test(type))
    return [
      warning(
        'file-system',
        `${root} is on ${type}: it is lost at the next reboot`,
        'move the data directory to a disk',
      ),
    ];
  return [fine('file-system', `${root} is on ${type}`)];
}

/** Returns the file system type of the longest mount point above the path. Pure; `mounts` is the text of mountinfo. */
export function fileSystemOf(path: string, mounts: string): string {
  const rows = mounts.split('\n').map((line) => {
    const [left = '', right = ''] = line.split(' - ');
    const at = (left.split(' ')[4] ?? '').replace(/\\(\d{3})/g, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 8)),
    );
    return { at, type: right.split(' ')[0] ?? '' };
  });
  const over = rows.filter(({ at }) => at !== '' && (path === at || path.startsWith(at === '/' ? at : `${at}/`)));
  // The later of two mounts at the same path hides the earlier.
  return over.reduce((best, row) => (row.at.length >= best.at.length ? row : best), { at: '', type: 'unknown' }).type;
}

function checkSettings({ settings }: Home): readonly Finding[] {
  const about = 'settings';
  try {
    nodeSettings(readFileSync(settings, 'utf8'));
    return [fine(about, `${settings} is valid`)];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      return [note(about, 'there is no node.json: the defaults apply')];
    if (!(error instanceof LonghaulError)) throw error;
    return [fault(about, `${settings}: ${error.message}`, 'correct it, then send the node a SIGHUP')];
  }
}

async function checkQueues(home: Home): Promise<readonly Finding[]> {
  const definitions = await readQueueFolder(home);
  const problems = definitions.flatMap(({ name, problem }) =>
    problem === null
      ? []
      : [warning('queues', `queue ${name}: ${problem}`, `correct the files of ${name} in ${home.queues}`)],
  );
  return problems.length > 0 ? problems : [fine('queues', `${definitions.length} queues from files`)];
}
