/** Completion for zsh, generated from the command table. Pure. */
import type { CommandSpec, CompletionKind, OptionSpec } from '../../table/command-spec.ts';
import { COMMANDS } from '../../table/command-table.ts';

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
/** Escapes brackets and colons, which have a meaning in the specs of _arguments. */
const escape = (text: string): string => text.replace(/[\\[\]:]/g, (character) => `\\${character}`);

function action(kind: CompletionKind | undefined): string {
  if (kind === undefined) return ' ';
  if (typeof kind !== 'string') return `(${kind.join(' ')})`;
  if (kind === 'file') return '_files';
  if (kind === 'directory') return '_files -/';
  return kind === 'command' ? `(${COMMANDS.map(({ name }) => name).join(' ')})` : `_longhaul_words ${kind}`;
}

export function zshCompletion(): string {
  return `#compdef longhaul
# longhaul completion for zsh: eval "$(longhaul completion zsh)"
_longhaul_words() {
  local -a found target
  local at
  for ((at = 1; at < CURRENT; at++)); do
    case $words[at] in
      --home | --store) target+=($words[at] $words[at+1]) ;;
    esac
  done
  found=(\${(f)"$(longhaul completion words $1 $target 2>/dev/null)"})
  compadd -a found
}
_longhaul() {
  local -a commands
  commands=(
${COMMANDS.map(({ name, summary }) => `    ${quote(`${name}:${escape(summary)}`)}`).join('\n')}
  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  ((CURRENT--))
  case $command in
${COMMANDS.map(commandCase).join('\n')}
  esac
}
compdef _longhaul longhaul`;
}

function commandCase({ name, options, completes }: CommandSpec): string {
  const specs = Object.entries(options).flatMap(([option, spec]) => argumentSpecs(option, spec));
  const rest = name === 'run' ? `'*::command:_normal'` : quote(`*:${name}:${action(completes)}`);
  return `    ${name}) _arguments ${[...specs, quote('(-h --help)--help[show help]'), rest].join(' ')} ;;`;
}

function argumentSpecs(name: string, { type, short, description, value = 'TEXT', completes }: OptionSpec): string[] {
  const many = type === 'list' ? '*' : '';
  const tail = type === 'flag' ? '' : `:${escape(value)}:${action(completes)}`;
  const forms = [`--${name}`, ...(short === undefined ? [] : [`-${short}`])];
  return forms.map((form) => quote(`${many}${form}[${escape(description)}]${tail}`));
}
