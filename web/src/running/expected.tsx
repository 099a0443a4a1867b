/** The expected end of a running job, its basis, and whether the job is slower than usual. */
import type { RunningRow } from '../../../src/wire/overview.ts';
import { localIso, span } from '../../../src/wire/spans.ts';
import { useNow } from '../ui/relative-time.tsx';

export const BASIS: Readonly<Record<NonNullable<RunningRow['expectedBy']>, string>> = {
  progress: 'by its progress',
  history: 'by earlier jobs',
  both: 'by its progress and earlier jobs',
};

type Expectation = Pick<RunningRow, 'expectedEndAt' | 'expectedBy' | 'isSlow' | 'usualMs'>;

export const usualText = ({ usualMs }: Pick<RunningRow, 'usualMs'>): string | undefined =>
  usualMs === null ? undefined : `median run of this queue: ${span(usualMs)}`;

export function endText(expectedEndAt: number, now: number): string {
  return expectedEndAt <= now ? 'any moment' : `in ${span(expectedEndAt - now)}`;
}

export function Expected({ row }: { row: Expectation }) {
  const { expectedEndAt, expectedBy, isSlow } = row;
  const now = useNow();
  return (
    <div class="whitespace-nowrap" title={usualText(row)}>
      {expectedEndAt === null && !isSlow && <span class="text-xs text-soft">unknown</span>}
      {expectedEndAt !== null && <span title={localIso(expectedEndAt)}>{endText(expectedEndAt, now)}</span>}
      {expectedBy !== null && <div class="text-xs text-soft">{BASIS[expectedBy]}</div>}
      {isSlow && <div class="text-xs font-medium text-warn">slower than usual</div>}
    </div>
  );
}
