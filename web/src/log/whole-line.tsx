/** A dialog with the full text of a long line, up to the size of a response. */
import { withQuery } from '../data/call.ts';
import { useQuery } from '../data/use-query.ts';
import { Dialog } from '../ui/dialog.tsx';
import type { LogLine } from './live-lines.ts';
import { LogText } from './log-text.tsx';

export function WholeLine({ path, line, onClose }: { path: string; line: number; onClose: () => void }) {
  const { data } = useQuery<{ lines: readonly LogLine[] }>(withQuery(path, { line, lines: 1 }), {
    concerns: () => false,
    everyMs: 600_000,
  });
  return (
    <Dialog title={`Line ${line.toLocaleString('en')}`} onClose={onClose}>
      <bdi dir="ltr" class="block font-mono text-[13px] whitespace-pre-wrap break-all">
        {data === undefined ? '…' : <LogText line={data.lines[0]?.text ?? ''} />}
      </bdi>
    </Dialog>
  );
}
