/** Writes the steps of earlier attempts, and their large outputs, into the workdir of a script that starts. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Step } from '../../../core/job/step.ts';
import type { Attachment } from '../../../files/attachments/attachments.ts';
import type { Blobs } from '../../../files/blobs/blobs.ts';
import { type ListedStep, outputsOf, STEPS, stepFolder, stepKey, streamName } from './step-files.ts';

export interface EarlierSteps {
  readonly steps: readonly ListedStep[];
  /** The attachments with outputs of steps. */
  readonly outputs: readonly Attachment[];
}

export function earlierSteps(steps: readonly Step[] | null, files: readonly Attachment[]): EarlierSteps | null {
  if (steps === null) return null;
  const listed = steps.map((step) => ({ ...step, result: step.result === null ? null : JSON.parse(step.result) }));
  const names = new Set(listed.flatMap(outputsOf).map(({ name }) => name));
  return { steps: listed, outputs: files.filter(({ name, direction }) => direction === 'out' && names.has(name)) };
}

export async function writeSteps(work: string, { steps, outputs }: EarlierSteps, blobs: Blobs): Promise<void> {
  writeFileSync(join(work, STEPS), `${JSON.stringify(steps, null, 2)}\n`, { mode: 0o600 });
  if (outputs.length === 0) return;
  const folder = stepFolder(work);
  mkdirSync(folder, { mode: 0o700 });
  for (const step of steps) {
    for (const { stream, name } of outputsOf(step)) {
      const sha256 = outputs.find((file) => file.name === name)?.sha256 ?? '';
      const staged = await blobs.stage({ sha256, folder, name: streamName(stepKey('run', step.name), stream) });
      if (!staged.ok) throw new Error(`the ${stream} of step ${step.name}: ${staged.refusal.message}`);
    }
  }
}
