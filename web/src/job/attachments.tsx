/** The attachments of a job, input and output, with downloads. */
import { bytes } from '../../../src/wire/spans.ts';
import { addressOf } from '../data/base.ts';
import { useQuery } from '../data/use-query.ts';
import { CopyButton } from '../ui/copy-button.tsx';
import { Cell, Table } from '../ui/table.tsx';

interface Attachment {
  readonly name: string;
  readonly sha256: string;
  readonly size: number;
  readonly direction: 'in' | 'out';
}

export function Attachments({ id }: { id: string }) {
  const path = `api/jobs/${encodeURIComponent(id)}/attachments`;
  const { data } = useQuery<{ attachments: readonly Attachment[] }>(path, {
    concerns: (event) => event.type !== 'queue' && event.id === id && event.type !== 'progress',
  });
  if (data === undefined || data.attachments.length === 0) return null;
  return (
    <section aria-labelledby="attachments">
      <h2 id="attachments" class="mb-2 font-semibold">
        Attachments
      </h2>
      <Table caption="Attachments" stacks heads={['Name', 'Kind', { text: 'Size', class: 'text-right' }, 'SHA-256']}>
        {data.attachments.map(({ name, sha256, size, direction }) => (
          <tr key={`${direction}/${name}`}>
            <Cell class="max-w-md">
              <a
                class="link break-all"
                href={addressOf(`${path}/${encodeURIComponent(name)}?direction=${direction}`)}
                download={name}
              >
                {name}
              </a>
            </Cell>
            <Cell>{direction === 'in' ? 'input' : 'output'}</Cell>
            <Cell class="numbers text-right whitespace-nowrap">{bytes(size)}</Cell>
            <Cell class="whitespace-nowrap">
              <code class="font-mono text-xs">{sha256.slice(0, 12)}…</code> <CopyButton text={sha256} />
            </Cell>
          </tr>
        ))}
      </Table>
    </section>
  );
}
