/** A queue made in the browser: its name and, for an admin, the script that does its jobs. */
import { go, queuePath } from '../data/address.ts';
import { addressOf } from '../data/base.ts';
import { call } from '../data/call.ts';
import { useMe } from '../data/me.ts';
import { useAct } from '../data/use-act.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Field, saidIn } from '../ui/field.tsx';
import { Trouble } from '../ui/trouble.tsx';

export function NewQueue({ onClose }: { onClose: () => void }) {
  const { error, act } = useAct();
  const submit = async (form: HTMLFormElement) => {
    const fields = new FormData(form);
    const [name, script, atOnce] = ['name', 'script', 'concurrency'].map((each) => saidIn(fields, each));
    const body = { name, ...(script !== '' && { script }), ...(atOnce !== '' && { concurrency: Number(atOnce) }) };
    await call('api/queues', { method: 'POST', body });
    go(queuePath(name ?? ''));
  };
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    void act(() => submit(form));
  };
  return (
    <Dialog title="A new queue" onClose={onClose}>
      <form class="grid gap-3" onSubmit={onSubmit}>
        <div class="grid gap-3 sm:grid-cols-[1fr_2fr_6rem]">
          <Field name="name" words="Name" />
          <Field
            name="script"
            words="Script (a path on this machine)"
            placeholder="/home/me/longhaul/queues/my-script"
          />
          <Field name="concurrency" words="At once" placeholder="1" isNumber />
        </div>
        <WhoMay />
        <Trouble error={error} />
        <div class="flex justify-end gap-2">
          <Button onClick={onClose}>Not now</Button>
          <Button kind="main" type="submit">
            Make the queue
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Naming a script is running code on the machine: said before it is refused. */
function WhoMay() {
  const me = useMe();
  if (me === undefined || me.role === 'admin') return null;
  return (
    <p class="rounded-md bg-warn-ground px-3 py-2 text-sm text-warn">
      You have the role {me.role}. A script can be named by an admin only: log in by the link that{' '}
      <code class="font-mono">longhaul serve</code> printed, or{' '}
      <a class="underline" href={addressOf('login')}>
        with a token
      </a>
      . Without a script the queue is for workers of your own programs.
    </p>
  );
}
