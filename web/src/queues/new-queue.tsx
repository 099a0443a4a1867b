/** The form for a new queue: its name and, for an admin, its script. */

import { addressOf } from '../data/base.ts';
import { call } from '../data/call.ts';
import { go, queuePath } from '../data/location.ts';
import { useMe } from '../data/me.ts';
import { useAction } from '../data/use-action.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ErrorMessage } from '../ui/error-message.tsx';
import { Field, fieldValue } from '../ui/field.tsx';

export function NewQueue({ onClose }: { onClose: () => void }) {
  const { error, run } = useAction();
  const submit = async (form: HTMLFormElement) => {
    const fields = new FormData(form);
    const [name, script, atOnce] = ['name', 'script', 'concurrency'].map((each) => fieldValue(fields, each));
    const body = { name, ...(script !== '' && { script }), ...(atOnce !== '' && { concurrency: Number(atOnce) }) };
    await call('api/queues', { method: 'POST', body });
    go(queuePath(name ?? ''));
  };
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    void run(() => submit(form));
  };
  return (
    <Dialog title="New queue" onClose={onClose}>
      <form class="grid gap-3" onSubmit={onSubmit}>
        <div class="grid gap-3 sm:grid-cols-[1fr_2fr_6rem]">
          <Field name="name" label="Name" />
          <Field
            name="script"
            label="Script (a path on this machine)"
            placeholder="/home/me/longhaul/queues/my-script"
          />
          <Field name="concurrency" label="Concurrency" placeholder="1" isNumber />
        </div>
        <RoleNotice />
        <ErrorMessage error={error} />
        <div class="flex justify-end gap-2">
          <Button onClick={onClose}>Close</Button>
          <Button kind="main" type="submit">
            Create queue
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Setting a script means running code on this machine; the notice comes before the refusal. */
function RoleNotice() {
  const me = useMe();
  if (me === undefined || me.role === 'admin') return null;
  return (
    <p class="rounded-md bg-warn-ground px-3 py-2 text-sm text-warn">
      You have the role {me.role}. Only an admin can set a script: log in with the link that{' '}
      <code class="font-mono">longhaul serve</code> printed, or{' '}
      <a class="underline" href={addressOf('login')}>
        with a token
      </a>
      . Without a script, the queue is for workers of your own programs.
    </p>
  );
}
