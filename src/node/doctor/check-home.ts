/** A look at a home folder: whose it is, who can read it, what its disk is and how full, and whether its settings can be read. */
import { lstatSync, readdirSync, readFileSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { LonghaulError } from '../../core/ports/errors.ts';
import type { Home } from '../home.ts';
import { nodeSettings } from '../node-settings.ts';
import { readQueueFolder } from '../queues/queue-folder.ts';
import type { Finding } from './finding.ts';
import { fault, fine, note, warning } from './finding.ts';
import { unsafePlaces } from './home-safety.ts';

const GIB = 1024 ** 3;
const MIB = 1024 ** 2;
const FULL_BYTES = 16 * MIB;
const NETWORKED = /^(nfs|nfs4|cifs|smb\d*|smbfs|9p|ceph|glusterfs|afs|ncpfs|lustre|fuse\.(sshfs|s3fs|glusterfs))$/;
const FLEETING = /^(tmpfs|ramfs)$/;
const OPEN_TO_OTHERS = 0o077;
/** A lock and a socket are as good as their folder; folders may be entered where scripts run as somebody else. */
const CHECKED_BELOW = ['', 'queues'];
const MOST_NAMED = 5;

export async function checkHome(home: Home, uid: number): Promise<readonly Finding[]> {
  return [...checkPermissions(home, uid), ...checkDisk(home), ...checkSettings(home), ...(await checkQueues(home))];
}

export function checkPermissions(home: Home, uid: number): readonly Finding[] {
  const about = 'permissions';
  const places = unsafePlaces(home, uid).map(({ path, problem, cure, isOpenToChange }) =>
    (isOpenToChange ? fault : warning)(about, `${path} ${problem}`, cure),
  );
  const files = CHECKED_BELOW.flatMap((folder) => ownFiles(join(home.root, folder)));
  const open = files.filter(({ mode }) => (mode & OPEN_TO_OTHERS) !== 0 && (mode & 0o111) === 0);
  const foreign = files.filter((file) => file.uid !== uid);
  const found = [
    ...places,
    ...several(open, (paths) => warning(about, `others may read ${paths}`, `chmod 0600 ${paths}`)),
    ...several(foreign, (paths) => fault(about, `${paths}: not owned by user ${uid}`, `chown ${uid} ${paths}`)),
  ];
  return found.length > 0 ? found : [fine(about, `${home.root} is closed to others`)];
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

function several(files: readonly OwnFile[], tell: (paths: string) => Finding): readonly Finding[] {
  if (files.length === 0) return [];
  const named = files.slice(0, MOST_NAMED).map(({ path }) => path);
  return [tell(`${named.join(' ')}${files.length > MOST_NAMED ? ` and ${files.length - MOST_NAMED} more` : ''}`)];
}

export function checkDisk({ root, database }: Home): readonly Finding[] {
  const { bavail, bsize, blocks } = statfsSync(root);
  const [free, total] = [bavail * bsize, blocks * bsize];
  const words = `${Math.floor(free / MIB)} MB of ${Math.floor(total / MIB)} MB are free under ${root}`;
  const more = 'make room: longhaul queue settings for retention, old backups, other files of that disk';
  return [...fullness(), ...ballast(), ...fileSystem(root)];

  function fullness(): readonly Finding[] {
    if (free < FULL_BYTES) return [fault('disk', `the disk is full: ${words}; new jobs are refused`, more)];
    if (free < GIB && free < total / 20) return [warning('disk', `the disk is nearly full: ${words}`, more)];
    return [fine('disk', words)];
  }

  /** It is given up when there is no space, and put back by itself. */
  function ballast(): readonly Finding[] {
    const isStore = statSync(database, { throwIfNoEntry: false }) !== undefined;
    const isThere = statSync(join(root, 'ballast'), { throwIfNoEntry: false }) !== undefined;
    if (!isStore || isThere) return [];
    return [
      warning('disk', 'the ballast is gone: the disk was full, and may be still', `${more}; it comes back by itself`),
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
        'move the home to a local disk, or keep the jobs in Redis: --store redis://…',
      ),
    ];
  if (FLEETING.test(type))
    return [
      warning('file-system', `${root} is on ${type}: it is gone with the next restart`, 'move the home to a disk'),
    ];
  return [fine('file-system', `${root} is on ${type}`)];
}

/** Of the longest mount point that the path is under. Pure; `mounts` is the text of mountinfo. */
export function fileSystemOf(path: string, mounts: string): string {
  const rows = mounts.split('\n').map((line) => {
    const [left = '', right = ''] = line.split(' - ');
    const at = (left.split(' ')[4] ?? '').replace(/\\(\d{3})/g, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 8)),
    );
    return { at, type: right.split(' ')[0] ?? '' };
  });
  const over = rows.filter(({ at }) => at !== '' && (path === at || path.startsWith(at === '/' ? at : `${at}/`)));
  // The later of two at the same place lies over the earlier.
  return over.reduce((best, row) => (row.at.length >= best.at.length ? row : best), { at: '', type: 'unknown' }).type;
}

function checkSettings({ settings }: Home): readonly Finding[] {
  const about = 'settings';
  try {
    nodeSettings(readFileSync(settings, 'utf8'));
    return [fine(about, `${settings} can be read`)];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      return [note(about, 'there is no node.json: all is as usual')];
    if (!(error instanceof LonghaulError)) throw error;
    return [fault(about, `${settings}: ${error.message}`, 'correct it, then send the node a HUP')];
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
