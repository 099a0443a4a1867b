/** Seeded bugs of durable steps of scripts: a command that runs again, a lost log, a wait that moves. */
const processes = ['test/processes/scripts-steps.test.ts'];

export const scriptSteps = [
  {
    name: 'script steps: a kept command runs again in a later attempt',
    file: 'src/cli/commands/shell/step.ts',
    find: "if (earlier?.status === 'done') return printOutput(files, earlier);",
    replace: '',
    suites: processes,
  },
  {
    name: 'script steps: a step returns before its node has kept it',
    file: 'src/cli/commands/shell/step-exchange.ts',
    find: 'const answer = await this.#answer(name, key);',
    replace: 'const answer = KEPT; void this.#answer;',
    suites: processes,
  },
  {
    name: 'script steps: a stale token keeps a step',
    file: 'src/node/scripts/steps/keep-step.ts',
    find: 'if (token !== job.lease.token)',
    replace: 'if (token === -1)',
    suites: processes,
  },
  {
    name: 'script steps: large output is not stored',
    file: 'src/node/scripts/steps/keep-step.ts',
    find: 'if (isLarge) await storeOutput(',
    replace: 'if (token < 0) await storeOutput(',
    suites: processes,
  },
  {
    name: 'script steps: a resumed script begins a new log',
    file: 'src/node/scripts/script-start.ts',
    find: 'createFolders(folder, job.suspension === null ? [] : KEPT_ON_RESUME);',
    replace: "createFolders(folder, job.suspension === null ? [] : ['secrets.json']); void KEPT_ON_RESUME;",
    suites: processes,
  },
  {
    name: 'script steps: the time of a wait counts from the exit',
    file: 'src/node/scripts/script-reports.ts',
    find: 'return fixWakeTime(host, { job, context, batch });',
    replace: 'return void fixWakeTime;',
    suites: processes,
  },
  {
    name: 'script steps: a wait that was kept is begun again under another name',
    file: 'src/node/scripts/steps/wait-steps.ts',
    find: "if (step === undefined || step.status === 'waiting' || step.status === 'arrived') return name;",
    replace: 'if (step === undefined) return name;',
    suites: processes,
  },
  {
    name: 'script steps: of two steps in one batch only the last is kept',
    file: 'src/runner/protocol/report-reader.ts',
    find: "if (verb.kind === 'dup' || verb.kind === 'step') return null;",
    replace: "if (verb.kind === 'dup') return null;",
    suites: ['src/runner/protocol/drop-backlog.test.ts'],
  },
  {
    name: 'script steps: a script that waits fails with the status of longhaul step',
    file: 'src/runner/attempt/outcome.ts',
    find: 'if (exit.status === 0 || exit.status === WAIT_STATUS)',
    replace: 'if (exit.status === 0)',
    suites: ['src/runner/attempt/outcome.test.ts'],
  },
  {
    name: 'script steps: a node that resumes an attempt does not fetch its log',
    file: 'src/node/scripts/script-start.ts',
    find: 'if (job.suspension !== null) await bringEarlierLog(host, job);',
    replace: 'void bringEarlierLog;',
    suites: ['test/node/many-nodes.test.ts'],
  },
];
