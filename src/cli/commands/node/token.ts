/** `longhaul token`: who may use the HTTP API. A token itself is printed once, here, and kept nowhere. */
import { checked, oneOf } from '../../../core/input/check.ts';
import { didYouMean } from '../../../core/input/did-you-mean.ts';
import { parseDuration } from '../../../core/input/duration.ts';
import { shownName } from '../../../core/job/names.ts';
import { LonghaulError } from '../../../core/ports/errors.ts';
import type { Token } from '../../../server/auth/tokens.ts';
import { makeToken, readToken, TOKEN_RECORD } from '../../../server/auth/tokens.ts';
import { ROLES } from '../../../wire/role.ts';
import { age } from '../../../wire/spans.ts';
import type { Column } from '../../output/columns.ts';
import { table } from '../../output/columns.ts';
import { print, printJson, remark, screenOf } from '../../output/screen.ts';
import type { Call } from '../../table/call.ts';
import { UsageError } from '../../table/command.ts';
import type { Target } from '../../target/open-target.ts';
import { withTarget } from '../../target/open-target.ts';

const MOST = 1_000;

export async function token(call: Call): Promise<number> {
  const [verb, name, ...more] = call.positionals;
  if (more.length > 0) throw call.wrong('too many words');
  if (verb === undefined) return withTarget(call, (target) => list(call, target));
  if (verb !== 'create' && verb !== 'revoke')
    throw call.wrong(`token ${verb} is not known${didYouMean(verb, ['create', 'revoke'])}`);
  if (name === undefined) throw call.wrong(verb === 'create' ? 'NAME is missing' : 'ID is missing');
  return verb === 'create' ? create(call, name) : withTarget(call, (target) => revoke(target, name));
}

async function create(call: Call, name: string): Promise<number> {
  if (call.text('role') === undefined) throw call.wrong(`--role is missing: one of ${ROLES.join(', ')}`);
  const wanted = {
    name: checked('NAME', name, shownName),
    role: checked('--role', call.text('role'), oneOf(...ROLES)),
    expiresAt: expiry(call.text('expires')),
  };
  const createIn = async ({ longhaul }: Target): Promise<number> => {
    const made = await makeToken(longhaul.store.records, wanted, Date.now());
    if (call.flag('json')) printJson({ ...made.token, token: made.text });
    else {
      print(made.text);
      remark(`longhaul: token ${made.token.id} for ${name}, role ${wanted.role}. It is shown this once: keep it safe`);
    }
    return 0;
  };
  // A node that listens beyond this machine needs a token before its first start.
  return withTarget(call, createIn, { createsStore: 'in a new folder too' });
}

function expiry(text: string | undefined): number | null {
  if (text === undefined) return null;
  const ms = parseDuration(text);
  if (ms === null || ms < 1_000) throw new UsageError(`--expires must be a duration such as 90d, not ${text}`);
  return Date.now() + ms;
}

async function tokensOf({ longhaul }: Target): Promise<readonly Token[]> {
  const records = await longhaul.store.records.list({ kind: TOKEN_RECORD, limit: MOST });
  return records.flatMap((record) => {
    const stored = readToken(record);
    if (stored === null) return [];
    const { sha256: _hash, ...shown } = stored;
    return [shown];
  });
}

async function list(call: Call, target: Target): Promise<number> {
  const tokens = await tokensOf(target);
  if (call.flag('json')) printJson(tokens);
  else if (tokens.length === 0) remark('no tokens');
  else for (const line of table(columns(Date.now()), tokens, screenOf())) print(line);
  return 0;
}

async function revoke(target: Target, id: string): Promise<number> {
  const answer = await target.longhaul.store.records.delete(TOKEN_RECORD, id);
  if (!answer.ok) {
    const ids = (await tokensOf(target)).map((each) => each.id);
    throw new LonghaulError('refused', `there is no token ${id}${didYouMean(id, ids)}`);
  }
  print(`token ${id} is revoked`);
  return 0;
}

function columns(now: number): Column<Token>[] {
  return [
    { title: 'ID', isWhole: true, of: ({ id }) => id },
    { title: 'NAME', of: ({ name }) => name },
    { title: 'ROLE', isWhole: true, of: ({ role }) => role },
    { title: 'MADE', isWhole: true, of: ({ createdAt }) => age(createdAt, now) },
    { title: 'EXPIRES', isWhole: true, of: ({ expiresAt }) => (expiresAt === null ? 'never' : age(expiresAt, now)) },
  ];
}
