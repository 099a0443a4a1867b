/** When a running job is expected to end, by what that is known, and whether it takes longer than usual. */
import type { RunningRow } from '../../../src/wire/overview.ts';
import { localIso, span } from '../../../src/wire/spans.ts';
import { useNow } from '../ui/when.tsx';

export const BASIS: Readonly<Record<NonNullable<RunningRow['expectedBy']>, string>> = {
  progress: 'by its progress',
  history: 'by earlier jobs',
  both: 'by its progress and earlier jobs',
};

type Expecting = Pick<RunningRow, 'expectedEndAt' | 'expectedBy' | 'isSlow' | 'usualMs'>;

export const usualWords = ({ usualMs }: Pick<RunningRow, 'usualMs'>): string | undefined =>
  usualMs === null ? undefined : `half of this queue's jobs run for ${span(usualMs)} at the most`;

export function endWords(expectedEndAt: number, now: number): string {
  return expectedEndAt <= now ? 'any moment' : `in ${span(expectedEndAt - now)}`;
}

export function Expected({ row }: { row: Expecting }) {
  const { expectedEndAt, expectedBy, isSlow } = row;
  const now = useNow();
  return (
    <div class="whitespace-nowrap" title={usualWords(row)}>
      {expectedEndAt === null && !isSlow && <span class="text-xs text-soft">not known</span>}
      {expectedEndAt !== null && <span title={localIso(expectedEndAt)}>{endWords(expectedEndAt, now)}</span>}
      {expectedBy !== null && <div class="text-xs text-soft">{BASIS[expectedBy]}</div>}
      {isSlow && <div class="text-xs font-medium text-warn">slower than usual</div>}
    </div>
  );
}
