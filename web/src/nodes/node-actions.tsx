/** Actions of a node: drain, resume, forget. */
import { useState } from 'preact/hooks';
import type { NodeView } from '../../../src/wire/node-view.ts';
import { call } from '../data/call.ts';
import { useHasRole } from '../data/me.ts';
import { useAction } from '../data/use-action.ts';
import { Button } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';
import { ErrorMessage } from '../ui/error-message.tsx';

type Verb = 'drain' | 'forget';

const TITLES: Readonly<Record<Verb, string>> = { drain: 'Drain', forget: 'Forget' };
const EFFECT: Readonly<Record<Verb, string>> = {
  drain: 'The node starts no more jobs, even after a restart. Other nodes run the waiting jobs; running jobs finish.',
  forget: 'The node is removed from the list. Logs and attachments stored only there count as lost.',
};

export function NodeActions({ node, onDone }: { node: NodeView; onDone: () => void }) {
  const [dialog, setDialog] = useState<Verb | null>(null);
  const { error, run } = useAction();
  const [canOperate, canForget] = [useHasRole('operate'), useHasRole('admin')];
  const path = `api/nodes/${encodeURIComponent(node.id)}`;
  const send = async (verb: Verb | 'resume') => {
    if (verb === 'forget') await call(path, { method: 'DELETE' });
    else await call(`${path}/${verb}`, { method: 'POST', body: {} });
    setDialog(null);
    onDone();
  };
  const offered: Verb | null = node.goneAt === null ? 'drain' : 'forget';
  const isOffered = offered === 'drain' ? canOperate && !node.isDraining : canForget;
  return (
    <>
      {node.isDraining && node.goneAt === null && canOperate && (
        <Button onClick={() => void run(() => send('resume'))}>Resume</Button>
      )}
      {isOffered && <Button onClick={() => setDialog(offered)}>{TITLES[offered]} …</Button>}
      {dialog === null && <ErrorMessage error={error} />}
      {dialog !== null && (
        <ConfirmDialog
          title={`${TITLES[dialog]} ${node.name}?`}
          confirmLabel={TITLES[dialog]}
          kind={dialog === 'forget' ? 'danger' : 'main'}
          onConfirm={() => void run(() => send(dialog))}
          onClose={() => setDialog(null)}
        >
          <p>{EFFECT[dialog]}</p>
          <ErrorMessage error={error} />
        </ConfirmDialog>
      )}
    </>
  );
}
