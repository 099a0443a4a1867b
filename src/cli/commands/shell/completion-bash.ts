/** Completion for bash, generated from the command table. Pure. */
import type { CommandSpec, CompletionKind } from '../../table/command-spec.ts';
import { COMMANDS } from '../../table/command-table.ts';

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Returns the shell call that fills COMPREPLY with the candidates for an argument. */
function candidates(kind: CompletionKind): string {
  return typeof kind === 'string' ? `_longhaul_kind ${kind}` : `_longhaul_words ${quote(kind.join('\n'))}`;
}

export function bashCompletion(): string {
  const names = COMMANDS.map(({ name }) => name).join('\n');
  return `# longhaul completion for bash: eval "$(longhaul completion bash)"
_longhaul_words() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$1" -- "$cur"))
}
_longhaul_kind() {
  case $1 in
    file) compopt -o filenames 2>/dev/null; local IFS=$'\\n'; COMPREPLY=($(compgen -f -- "$cur")) ;;
    directory) compopt -o filenames 2>/dev/null; local IFS=$'\\n'; COMPREPLY=($(compgen -d -- "$cur")) ;;
    command) _longhaul_words ${quote(names)} ;;
    *) _longhaul_words "$("\${COMP_WORDS[0]}" completion words "$1" "\${target[@]}" 2>/dev/null)" ;;
  esac
}
_longhaul() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command=\${COMP_WORDS[1]} at
  local -a target=()
  COMPREPLY=()
  for ((at = 2; at < COMP_CWORD; at++)); do
    case \${COMP_WORDS[at]} in
      --) _longhaul_kind file; return ;;
      --home | --store) target+=("\${COMP_WORDS[at]}" "\${COMP_WORDS[at + 1]}") ;;
    esac
  done
  if [ "$COMP_CWORD" -eq 1 ]; then _longhaul_kind command; return; fi
  case "$command $prev" in
${COMMANDS.flatMap(optionCases).join('\n')}
  esac
  case "$command $cur" in
${COMMANDS.map(optionNames).join('\n')}
  esac
  case $command in
${COMMANDS.flatMap(positionals).join('\n')}
  esac
}
complete -F _longhaul longhaul`;
}

function optionCases({ name, options }: CommandSpec): string[] {
  return Object.entries(options).flatMap(([option, { type, short, completes }]) => {
    if (type === 'flag') return [];
    const patterns = [`--${option}`, ...(short === undefined ? [] : [`-${short}`])].map((form) =>
      quote(`${name} ${form}`),
    );
    return [`    ${patterns.join(' | ')}) ${completes === undefined ? ':' : candidates(completes)}; return ;;`];
  });
}

function optionNames({ name, options }: CommandSpec): string {
  const names = [...Object.keys(options).map((option) => `--${option}`), '--help'];
  return `    ${quote(`${name} -`)}*) _longhaul_words ${quote(names.join('\n'))}; return ;;`;
}

function positionals({ name, completes }: CommandSpec): string[] {
  return completes === undefined ? [] : [`    ${name}) ${candidates(completes)} ;;`];
}
