/** Generates docs/cli.md from the command table. */

import { commandHelp, optionSyntax } from '../../src/cli/commands/shell/help.ts';
import type { CommandSpec } from '../../src/cli/table/command-spec.ts';
import { COMMANDS } from '../../src/cli/table/command-table.ts';

const HEAD = `# The command line

\`longhaul COMMAND [OPTION]…\`. This page is generated from the command table (\`src/cli/table/\`), like the help, the
errors and the shell completion: \`npx vitest run --project cli page -u\`. A test runs every example.

## Which node or store a command uses

1. The address of \`--store\` or \`LONGHAUL_STORE\`: \`http://host:3333\` (with \`LONGHAUL_TOKEN\`), \`unix:/path/node.sock\`,
   \`redis://…\`, or a directory.
2. Otherwise the node that runs on the data directory (\`--home\`, \`LONGHAUL_HOME\`, \`./longhaul\`), over its socket, as an
   admin.
3. Otherwise the store in that data directory. A data directory that does not exist is refused, never created.

## Exit codes

| code | meaning |
|---|---|
| 0 | success |
| 1 | refused: an unknown job, queue or node, a job in the wrong state, an unavailable store, or a token without the required role |
| 2 | bad usage or settings |

\`run\` exits with the status of its command: 128 + n if signal n killed it, 127 if the command was not found, 130 if it
was cancelled or left running by Ctrl-C. \`logs --search\` exits 1 if no line matches. \`step\` exits with the status of
its command, 124 after a timeout, and 75 if the script must exit because it waits.

## Output

Tables are as wide as the terminal (or \`COLUMNS\`, without a terminal). The last columns are truncated first, ids never.
Colours appear only on a terminal, and not with \`NO_COLOR\`. \`--json\` prints JSON to stdout; messages go to stderr.
Escape sequences in the texts of jobs are removed, except colours in logs. \`LONGHAUL_DEBUG=1\` prints the stack trace of
an internal error.

## Commands as jobs

\`longhaul run -- COMMAND\` needs a node. The arguments are passed on unchanged, never through a shell, with the
current directory, the umask and the variables of \`longhaul run --help\`. They are stored in the data of the job, which
every client that may read jobs can see. The job runs in the queue \`run\`, as many at once as the machine has cores
(\`longhaul queue run concurrency=1\` changes that). On a store that several machines share, the queue is \`run.HOST\`,
so that the command runs where its directory is. \`longhaul queue NAME --create script=longhaul:commands\` creates
another queue for commands.

Running a command is code execution, so it requires the role admin. The node runs a command only if a record that only
admins can write holds the hash of exactly this data under the id of the job. A job that another client adds to such a
queue, or changes, fails.
`;

export function cliPage(): string {
  const list = COMMANDS.map(({ name, summary }) => `| [\`${name}\`](#longhaul-${name}) | ${summary} |`);
  return [HEAD, '## Commands\n', '| command | purpose |\n|---|---|', ...list, '', ...COMMANDS.map(section)].join('\n');
}

function section(spec: CommandSpec): string {
  const options = Object.entries(spec.options).map(
    ([name, option]) => `| \`${optionSyntax(name, option)}\` | ${option.description.replaceAll('|', '\\|')} |`,
  );
  const [usage = ''] = commandHelp(spec).split('\n\n');
  return [
    `### longhaul ${spec.name}\n`,
    `\`\`\`\n${usage}\n\`\`\`\n`,
    wrap(
      `${capital(spec.summary)}.${spec.description === undefined ? '' : ` ${spec.description.replaceAll('\n', ' ')}`}\n`,
    ),
    ...(options.length === 0 ? [] : ['| option | meaning |\n|---|---|', ...options, '']),
    '```sh',
    ...spec.examples.map(({ line, description }) => `${line}  # ${description}`),
    '```\n',
  ].join('\n');
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Breaks a text into lines of at most 120 characters. */
function wrap(text: string): string {
  const lines = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last !== '' && last.length + word.length >= 120) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines.join('\n');
}
