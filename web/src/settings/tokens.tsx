/** API tokens and their roles. The secret is shown once, after creation. */
import { useState } from 'preact/hooks';
import type { Role } from '../../../src/wire/role.ts';
import { ROLES } from '../../../src/wire/role.ts';
import { Command } from '../command/command.tsx';
import { call } from '../data/call.ts';
import { useAction } from '../data/use-action.ts';
import { useQuery } from '../data/use-query.ts';
import { Button } from '../ui/button.tsx';
import { ErrorMessage } from '../ui/error-message.tsx';
import { FIELD, Field, fieldValue } from '../ui/field.tsx';
import { RelativeTime } from '../ui/relative-time.tsx';
import { Cell, Table } from '../ui/table.tsx';

interface Token {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly createdAt: number;
  readonly expiresAt: number | null;
}

export function Tokens() {
  const { data, refresh } = useQuery<{ tokens: readonly Token[] }>('api/tokens', { concerns: () => false });
  const { error, run } = useAction();
  const [made, setMade] = useState<string | null>(null);
  const make = (form: HTMLFormElement) =>
    run(async () => {
      const value = (name: string): string => fieldValue(new FormData(form), name);
      const body = {
        name: value('name'),
        role: value('role'),
        ...(value('expiresIn') !== '' && { expiresIn: value('expiresIn') }),
      };
      const { token } = await call<{ token: string }>('api/tokens', { method: 'POST', body });
      setMade(token);
      form.reset();
      refresh();
    });
  const revoke = (id: string) => run(() => call(`api/tokens/${id}`, { method: 'DELETE' }).then(refresh));
  return (
    <section class="panel p-4" aria-labelledby="tokens">
      <h2 id="tokens" class="mb-2 font-semibold">
        Tokens
      </h2>
      {data?.tokens.length === 0 && <p class="mb-3 text-soft">No tokens: only this machine has access.</p>}
      {data !== undefined && data.tokens.length > 0 && (
        <TokenTable tokens={data.tokens} revoke={(id) => void revoke(id)} />
      )}
      <NewToken onMake={(form) => void make(form)} />
      {made !== null && (
        <div role="status" class="mt-3">
          <p>Copy the token now: it is not shown again.</p>
          <Command text={made} />
        </div>
      )}
      <div class="mt-2">
        <ErrorMessage error={error} />
      </div>
    </section>
  );
}

function TokenTable({ tokens, revoke }: { tokens: readonly Token[]; revoke: (id: string) => void }) {
  return (
    <Table caption="Tokens" stacks heads={['Name', 'Role', 'Created', 'Expires', 'Id', 'Revoke']}>
      {tokens.map((token) => (
        <tr key={token.id}>
          <Cell class="max-w-52 font-medium break-all">{token.name}</Cell>
          <Cell>{token.role}</Cell>
          <Cell>
            <RelativeTime at={token.createdAt} />
          </Cell>
          <Cell>{token.expiresAt === null ? 'never' : <RelativeTime at={token.expiresAt} />}</Cell>
          <Cell class="font-mono text-xs">{token.id}</Cell>
          <Cell>
            <Button kind="danger" onClick={() => revoke(token.id)}>
              Revoke
            </Button>
          </Cell>
        </tr>
      ))}
    </Table>
  );
}

function NewToken({ onMake }: { onMake: (form: HTMLFormElement) => void }) {
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    onMake(event.currentTarget as HTMLFormElement);
  };
  return (
    <form class="mt-3 flex flex-wrap items-end gap-3" onSubmit={onSubmit}>
      <Field name="name" label="Name" placeholder="ci" />
      <label class="text-sm">
        Role
        <select name="role" class={FIELD}>
          {ROLES.map((role) => (
            <option key={role}>{role}</option>
          ))}
        </select>
      </label>
      <Field name="expiresIn" label="Expires in (empty: never)" placeholder="30d" />
      <Button type="submit">Create token</Button>
    </form>
  );
}
