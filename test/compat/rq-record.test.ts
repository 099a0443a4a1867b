/** The recorded answers are those of a real RQ. Needs a checkout of brightroll/rq; see real-rq.ts. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { hasRq, print, RealRq, WHY_SKIPPED } from './real-rq.ts';
import { talkOverHttp, talkOverSocket } from './rq-conversation.ts';
import { talkAboutForm, talkAboutQueues, talkAboutStates, talkOverCommandLine } from './rq-queue-conversation.ts';
import { COMMAND_LINE, FORM, QUEUES, STATES } from './rq-queue-recorded.ts';
import { OVER_HTTP, OVER_SOCKET } from './rq-recorded.ts';

if (!hasRq) print(`Recorded answers of RQ: ${WHY_SKIPPED}`);

describe.skipIf(!hasRq)('recorded answers', () => {
  let rq: RealRq;
  beforeAll(async () => {
    rq = new RealRq();
    await rq.install([{ name: 'work', script: 'echo "done all of it" >&3' }]);
    await rq.start();
    writeFileSync(join(rq.home, 'abc.bin'), 'abc');
    writeFileSync(join(rq.home, 'code/talk.sh'), '#!/bin/bash\necho "done all of it" >&3\n', { mode: 0o755 });
  });
  const host = () => ({ base: rq.base, home: rq.home, file: join(rq.home, 'abc.bin') });

  it('over HTTP are what RQ answers', async () => {
    expect(await talkOverHttp(host())).toEqual(OVER_HTTP);
  });

  it('over its sockets are what RQ answers', async () => {
    expect(await talkOverSocket(host())).toEqual(OVER_SOCKET);
  });

  it('about queues, their states and their form are what RQ answers', async () => {
    expect(await talkAboutQueues(host())).toEqual(QUEUES);
    expect(await talkAboutStates(host())).toEqual(STATES);
    expect(await talkAboutForm(host())).toEqual(FORM);
  });

  it('of the command line are what RQ prints', async () => {
    expect(await talkOverCommandLine(host(), (...words) => rq.rq(...words))).toEqual(COMMAND_LINE);
  });
});
