/**
 * The LogStore port over HTTP. A worker sends the output of its handlers with the token of the lease; the store keeps
 * it, as files of the data directory where it is SQLite. A node reads a log from its files or from the store, with
 * secrets masked.
 */

import { LOG_ANSWERS } from '../../../wire/port-answers.ts';
import { LOG_CHECKS } from '../../../wire/record-checks.ts';
import { logAddress } from '../../../wire/store-addresses.ts';
import { storeCall } from '../../../wire/store-call.ts';
import { json } from '../../http/reply.ts';
import type { Route } from '../../http/route.ts';
import { route } from '../../http/route.ts';
import { callOptions } from '../../views/store-call.ts';

/** A text of which each byte is escaped in JSON. */
const APPEND_LIMIT = 2 * 1024 * 1024;

const appendBody = storeCall(LOG_CHECKS.append);
const readBody = storeCall(LOG_CHECKS.read);

export const storedLogRoutes: readonly Route[] = [
  route({
    name: 'store.logs.append',
    method: 'POST',
    path: logAddress('append'),
    about: 'Appends output to the log of a running attempt, under the token of its lease. A repeat changes nothing.',
    role: 'operate',
    body: appendBody,
    answer: LOG_ANSWERS.append,
    limits: { bodyBytes: APPEND_LIMIT },
    audit: false,
    handle: async ({ context, body }) =>
      json(await context.store.logs.append(body.argument, callOptions(context, body.now))),
  }),
  route({
    name: 'store.logs.read',
    method: 'POST',
    path: logAddress('read'),
    about: 'Returns a part of the log of an attempt, or null where it has none.',
    role: 'read',
    body: readBody,
    answer: LOG_ANSWERS.read,
    handle: async ({ context, body }) => {
      const { id, attempt, from } = body.argument;
      const found = (await context.node?.attempts.log(id, attempt)) ?? null;
      if (found === null) return json(await context.store.logs.read(body.argument, callOptions(context, body.now)));
      return json(found.ok ? await found.log.page(from) : null);
    },
  }),
];
