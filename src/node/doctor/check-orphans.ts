/**
 * A look for what belongs to no job any more: folders of attempts, attachments without their bytes, and processes that
 * carry the mark of an attempt whose job does not run.
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

/** As much of a store as this needs; whoever has one lets it be asked. */
export interface JobLookup {
  find(ids: readonly string[]): Promise<readonly (KnownJob | null)[]>;
  /** Values of all records of a kind, by key. */
  records(kind: string): Promise<readonly { readonly key: string; readonly value: string }[]>;
}

export interface KnownJob {
  readonly id: string;
  readonly state: string;
  readonly attempt: number;
}

/** What is younger may be of a job that is just being added. */
const YOUNG_MS = 60_000;
const MOST_NAMED = 5;

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
  const orphans = old.filter((_, place) => known[place] === null).map((id) => join(home.jobs, id));
  if (orphans.length === 0) return [];
  const cure = 'a running node removes them within ten minutes; without one: rm -r what is named here';
  return [warning('orphans', `${orphans.length} folders of jobs that are no more: ${some(orphans)}`, cure)];
}

async function orphanProcesses(home: Home, jobs: JobLookup): Promise<readonly Finding[]> {
  const survey = await takeSurvey();
  const marked = survey.all.flatMap(({ pid }) => {
    const mark = survey.markOf(pid);
    return mark !== null && isInside(mark, home.jobs)
      ? [{ pid, mark, id: mark.slice(home.jobs.length + 1).split('/')[0] ?? '' }]
      : [];
  });
  const ids = [...new Set(marked.map(({ id }) => id))];
  const known = new Map((await jobs.find(ids)).map((job, place) => [ids[place], job]));
  const isRightful = ({ mark, id }: { mark: string; id: string }): boolean => {
    const job = known.get(id) ?? null;
    return job !== null && job.state === 'running' && mark === attemptFolder(home, id, job.attempt);
  };
  const orphans = marked.filter((each) => !isRightful(each));
  if (orphans.length === 0) return [];
  const pids = orphans.map(({ pid }) => pid).join(' ');
  const message = `processes of attempts that are over: ${some(orphans.map(({ pid, id }) => `${pid} (job ${id})`))}`;
  return [fault('orphans', message, `a node ends them when it starts; without one: kill -9 ${pids}`)];
}

async function lostAttachments(home: Home, jobs: JobLookup): Promise<readonly Finding[]> {
  const layout = createLayout(home.blobs);
  const records = await jobs.records(ATTACHMENT_RECORD);
  const lost = records.filter(({ value }) => !existsSync(layout.blob((JSON.parse(value) as Attachment).sha256)));
  if (lost.length === 0) return [];
  const cure = 'bring the files of blobs/ back from a backup, or attach them again';
  return [
    fault('attachments', `${lost.length} attachments have lost their bytes: ${some(lost.map(({ key }) => key))}`, cure),
  ];
}

function some(words: readonly string[]): string {
  const rest = words.length - MOST_NAMED;
  return `${words.slice(0, MOST_NAMED).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
