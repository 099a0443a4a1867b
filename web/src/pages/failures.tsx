/** What went wrong, by kind: how often, since when, and everything of one kind run again at once. */
import { useState } from 'preact/hooks';
import type { FailureGroup } from '../../../src/core/job-store.ts';
import { jobPath, queuePath } from '../data/address.ts';
import { CallError, call } from '../data/call.ts';
import { useQuery } from '../data/use-query.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Empty } from '../ui/empty.tsx';
import { Link } from '../ui/link.tsx';
import { Cell, Table } from '../ui/table.tsx';
import { Trouble } from '../ui/trouble.tsx';
import { When } from '../ui/when.tsx';

const HEADS = ['Group', 'Queue', { text: 'Jobs', class: 'text-right' }, 'First', 'Last', 'Sample', 'All of them'];

export function FailuresPage() {
  const { data, error, refresh } = useQuery<{ groups: readonly FailureGroup[] }>('api/failures');
  const [problem, setProblem] = useState<CallError | null>(null);
  const [asking, ask] = useState<FailureGroup | null>(null);
  const act = async (verb: 'requeue' | 'delete', { queue, group }: FailureGroup) => {
    setProblem(null);
    ask(null);
    try {
      await call(`api/failures/${verb}`, { method: 'POST', body: { queue, group } });
      refresh();
    } catch (thrown) {
      if (!(thrown instanceof CallError)) throw thrown;
      setProblem(thrown);
    }
  };
  const groups = [...(data?.groups ?? [])].sort((a, b) => b.lastAt - a.lastAt);
  return (
    <div class="grid grid-cols-[minmax(0,1fr)] gap-4">
      <h1 class="text-lg font-semibold">Failures</h1>
      <Trouble error={problem ?? (data === undefined ? error : null)} />
      {data?.groups.length === 0 && (
        <Empty title="Nothing has failed">
          Failed jobs gather here by what went wrong, to be looked at and run again together.
        </Empty>
      )}
      {groups.length > 0 && (
        <Table caption="Failure groups" heads={HEADS}>
          {groups.map((each) => (
            <tr key={`${each.queue}/${each.group}`} class="hover:bg-raised/50">
              <Cell class="max-w-md font-medium break-words">
                <Link to={`${queuePath(each.queue)}?state=failed&group=${encodeURIComponent(each.group)}`} class="link">
                  {each.group}
                </Link>
              </Cell>
              <Cell>{each.queue}</Cell>
              <Cell class="numbers text-right">{each.count.toLocaleString('en')}</Cell>
              <Cell>
                <When at={each.firstAt} />
              </Cell>
              <Cell>
                <When at={each.lastAt} />
              </Cell>
              <Cell class="max-w-40 truncate">
                <Link to={jobPath(each.queue, each.sampleId)} class="link font-mono text-xs">
                  {each.sampleId}
                </Link>
              </Cell>
              <Cell>
                <div class="flex gap-2">
                  <Button onClick={() => void act('requeue', each)}>Run again</Button>
                  <Button kind="danger" onClick={() => ask(each)}>
                    Delete …
                  </Button>
                </div>
              </Cell>
            </tr>
          ))}
        </Table>
      )}
      {asking !== null && (
        <Dialog title="Delete all jobs of this group?" onClose={() => ask(null)}>
          <p class="break-words">
            {asking.count.toLocaleString('en')} jobs of {asking.queue} that failed with <em>{asking.group}</em> go with
            their history, logs and attachments, for good.
          </p>
          <div class="mt-4 flex justify-end gap-2">
            <Button onClick={() => ask(null)}>Keep them</Button>
            <Button kind="danger" onClick={() => void act('delete', asking)}>
              Delete {asking.count.toLocaleString('en')}
            </Button>
          </div>
        </Dialog>
      )}
    </div>
  );
}
