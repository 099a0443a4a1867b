/** docs/cli.md, made from the table of commands. */

import { helpOf, optionWords } from '../../src/cli/commands/shell/help.ts';
import type { CommandSpec } from '../../src/cli/table/command-spec.ts';
import { COMMANDS } from '../../src/cli/table/command-table.ts';

const HEAD = `# The command line

\`longhaul COMMAND [OPTION]…\`. This page is made from the table of commands (\`src/cli/table/\`), which help, errors and
completion come from too; \`npx vitest run --project cli page -u\` writes it anew. Every example here is run by a test.

## What it talks to

- The address that \`--store\` or \`LONGHAUL_STORE\` names: \`http://host:3333\` (with \`LONGHAUL_TOKEN\`), \`unix:/path/node.sock\`, \`redis://…\`,
  or a folder.
- Else the node that runs on the home folder (\`--home\`, \`LONGHAUL_HOME\`, \`./longhaul\`), by its socket. There you are an admin.
- Else the store of that home itself. A home that does not exist is refused, never made.

## Exit codes

0 done; 1 refused (an id, a queue or a node that is not there, a store that is away, a state that does not allow it); 2 bad usage or
settings, also a token that may not do this. \`run\` exits with the status of its command: 128 + n when signal n killed it, 127 when it was not found, 130 when it was
cancelled or left running by Ctrl-C. \`logs --search\` exits 1 when nothing was found.

## Output

Tables are as wide as the terminal (\`COLUMNS\` where there is none) and cut the last column first, ids never. Colours only on a
terminal, and none with \`NO_COLOR\`. \`--json\` prints JSON on stdout; remarks go to stderr. Whatever jobs say is cleaned of
everything a terminal would obey but colours. \`LONGHAUL_DEBUG=1\` shows the stack of an error that is Longhaul's own.

## Commands as jobs

\`longhaul run -- COMMAND\` needs a node. The command line goes as words, never through a shell, with your folder, your umask and the
variables named above; they stand in the job's data, which everybody who may read jobs can see. It runs in the queue \`run\`,
as many at once as the machine has cores (\`longhaul queue run concurrency=1\` changes that); on a store that several machines share,
in \`run.HOST\`, so that it runs where its folder is. \`longhaul queue NAME --create script=longhaul:commands\` makes further queues
of this kind.

Running any command is code execution, so it takes an admin: the node runs a command only if a record, which admins alone may
write, holds the hash of exactly these data under its job's id. A job that others put into that queue, or change in it, fails.
`;

export function cliPage(): string {
  const list = COMMANDS.map(({ name, summary }) => `| [\`${name}\`](#longhaul-${name}) | ${summary} |`);
  return [HEAD, '## Commands\n', '| command | what it does |\n|---|---|', ...list, '', ...COMMANDS.map(section)].join(
    '\n',
  );
}

function section(spec: CommandSpec): string {
  const options = Object.entries(spec.options).map(
    ([name, option]) => `| \`${optionWords(name, option)}\` | ${option.about.replaceAll('|', '\\|')} |`,
  );
  const [usage = ''] = helpOf(spec).split('\n\n');
  return [
    `### longhaul ${spec.name}\n`,
    `\`\`\`\n${usage}\n\`\`\`\n`,
    `${capital(spec.summary)}.${spec.about === undefined ? '' : ` ${spec.about.replaceAll('\n', ' ')}`}\n`,
    ...(options.length === 0 ? [] : ['| option | meaning |\n|---|---|', ...options, '']),
    '```sh',
    ...spec.examples.map(({ line, says }) => `${line}  # ${says}`),
    '```\n',
  ].join('\n');
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
