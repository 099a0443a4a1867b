/**
 * Finds orphans: directories of deleted jobs, attachments without blobs, and processes with the marker of an attempt
 * whose job does not run.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Attachment } from '../../files/attachments/attachments.ts';
import { ATTACHMENT_RECORD } from '../../files/attachments/attachments.ts';
import { createLayout } from '../../files/blobs/layout.ts';
import { takeSurvey } from '../../runner/process-tree/process-survey.ts';
import { isInside } from '../../runner/process-tree/process-traces.ts';
import type { Home } from '../home.ts';
import { attemptFolder } from '../home.ts';
import type { Finding } from './finding.ts';
import { fault, fine, warning } from './finding.ts';

/** The part of a store that this check reads. */
export interface JobLookup {
  find(ids: readonly string[]): Promise<readonly (KnownJob | null)[]>;
  /** Returns all records of a kind. */
  records(kind: string): Promise<readonly { readonly key: string; readonly value: string }[]>;
}

export interface KnownJob {
  readonly id: string;
  readonly state: string;
  readonly attempt: number;
}

/** A younger directory may belong to a job that is being added. */
const YOUNG_MS = 60_000;
const MAX_LISTED = 5;

export async function checkOrphans(home: Home, jobs: JobLookup, now: number): Promise<readonly Finding[]> {
  const found = [
    ...(await orphanFolders(home, jobs, now)),
    ...(await orphanProcesses(home, jobs)),
    ...(await lostAttachments(home, jobs)),
  ];
  return found.length > 0 ? found : [fine('orphans', 'no files, attachments or processes without a job')];
}

async function orphanFolders(home: Home, jobs: JobLookup, now: number): Promise<readonly Finding[]> {
  const ids = existsSync(home.jobs) ? readdirSync(home.jobs) : [];
  const old = ids.filter(
    (id) => now - (statSync(join(home.jobs, id), { throwIfNoEntry: false })?.mtimeMs ?? now) > YOUNG_MS,
  );
  const known = await jobs.find(old);
  const orphans = old.filter((_, index) => known[index] === null).map((id) => join(home.jobs, id));
  if (orphans.length === 0) return [];
  const cure =
    'a running node removes them within ten minutes; without a node, remove the listed directories with rm -r';
  return [warning('orphans', `${orphans.length} directories of deleted jobs: ${listText(orphans)}`, cure)];
}

async function orphanProcesses(home: Home, jobs: JobLookup): Promise<readonly Finding[]> {
  const survey = await takeSurvey();
  const marked = survey.all.flatMap(({ pid }) => {
    const marker = survey.markOf(pid);
    return marker !== null && isInside(marker, home.jobs)
      ? [{ pid, marker, id: marker.slice(home.jobs.length + 1).split('/')[0] ?? '' }]
      : [];
  });
  const ids = [...new Set(marked.map(({ id }) => id))];
  const known = new Map((await jobs.find(ids)).map((job, index) => [ids[index], job]));
  const isRightful = ({ marker, id }: { marker: string; id: string }): boolean => {
    const job = known.get(id) ?? null;
    return job !== null && job.state === 'running' && marker === attemptFolder(home, id, job.attempt);
  };
  const orphans = marked.filter((each) => !isRightful(each));
  if (orphans.length === 0) return [];
  const pids = orphans.map(({ pid }) => pid).join(' ');
  const message = `processes of ended attempts: ${listText(orphans.map(({ pid, id }) => `${pid} (job ${id})`))}`;
  return [fault('orphans', message, `a node stops them when it starts; without a node: kill -9 ${pids}`)];
}

async function lostAttachments(home: Home, jobs: JobLookup): Promise<readonly Finding[]> {
  const layout = createLayout(home.blobs);
  const records = await jobs.records(ATTACHMENT_RECORD);
  const lost = records.filter(({ value }) => !existsSync(layout.blob((JSON.parse(value) as Attachment).sha256)));
  if (lost.length === 0) return [];
  const cure = 'restore the files of blobs/ from a backup, or attach them again';
  return [
    fault('attachments', `${lost.length} attachments have no blob: ${listText(lost.map(({ key }) => key))}`, cure),
  ];
}

function listText(items: readonly string[]): string {
  const rest = items.length - MAX_LISTED;
  return `${items.slice(0, MAX_LISTED).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
