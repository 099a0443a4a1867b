/** What can be told a node: to begin nothing more, to go on, or that it will not come back. */
import { useState } from 'preact/hooks';
import type { NodeView } from '../../../src/wire/node-view.ts';
import { call } from '../data/call.ts';
import { useMay } from '../data/me.ts';
import { useAct } from '../data/use-act.ts';
import { Button } from '../ui/button.tsx';
import { Question } from '../ui/question.tsx';
import { Trouble } from '../ui/trouble.tsx';

type Verb = 'drain' | 'forget';

const TITLES: Readonly<Record<Verb, string>> = { drain: 'Drain', forget: 'Forget' };
const EFFECT: Readonly<Record<Verb, string>> = {
  drain: 'It begins nothing more, also after a restart. What waits goes to other nodes; what runs there ends.',
  forget: 'It is no longer shown. Logs and attachments that it alone holds count as lost.',
};

export function NodeActs({ node, onDone }: { node: NodeView; onDone: () => void }) {
  const [asking, ask] = useState<Verb | null>(null);
  const { error, act } = useAct();
  const [mayOperate, mayForget] = [useMay('operate'), useMay('admin')];
  const path = `api/nodes/${encodeURIComponent(node.id)}`;
  const say = async (verb: Verb | 'resume') => {
    if (verb === 'forget') await call(path, { method: 'DELETE' });
    else await call(`${path}/${verb}`, { method: 'POST', body: {} });
    ask(null);
    onDone();
  };
  const offered: Verb | null = node.goneAt === null ? 'drain' : 'forget';
  const isOffered = offered === 'drain' ? mayOperate && !node.isDraining : mayForget;
  return (
    <>
      {node.isDraining && node.goneAt === null && mayOperate && (
        <Button onClick={() => void act(() => say('resume'))}>Resume</Button>
      )}
      {isOffered && <Button onClick={() => ask(offered)}>{TITLES[offered]} …</Button>}
      {asking === null && <Trouble error={error} />}
      {asking !== null && (
        <Question
          title={`${TITLES[asking]} ${node.name}?`}
          yes={TITLES[asking]}
          no="No"
          kind={asking === 'forget' ? 'danger' : 'main'}
          onYes={() => void act(() => say(asking))}
          onNo={() => ask(null)}
        >
          <p>{EFFECT[asking]}</p>
          <Trouble error={error} />
        </Question>
      )}
    </>
  );
}
