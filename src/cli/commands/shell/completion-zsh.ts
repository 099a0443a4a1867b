/** Completion for zsh, made from the table. Pure. */
import type { CommandSpec, Kind, OptionSpec } from '../../table/command-spec.ts';
import { COMMANDS } from '../../table/command-table.ts';

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
/** Within what _arguments reads, brackets and colons mean something. */
const plain = (text: string): string => text.replace(/[\\[\]:]/g, (character) => `\\${character}`);

function action(kind: Kind | undefined): string {
  if (kind === undefined) return ' ';
  if (typeof kind !== 'string') return `(${kind.join(' ')})`;
  if (kind === 'file') return '_files';
  if (kind === 'folder') return '_files -/';
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
${COMMANDS.map(({ name, summary }) => `    ${quote(`${name}:${plain(summary)}`)}`).join('\n')}
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
  const words = Object.entries(options).flatMap(([option, spec]) => argumentsOf(option, spec));
  const rest = name === 'run' ? `'*::command:_normal'` : quote(`*:${name}:${action(completes)}`);
  return `    ${name}) _arguments ${[...words, quote('(-h --help)--help[show help]'), rest].join(' ')} ;;`;
}

function argumentsOf(name: string, { type, short, about, value = 'TEXT', completes }: OptionSpec): string[] {
  const many = type === 'list' ? '*' : '';
  const tail = type === 'flag' ? '' : `:${plain(value)}:${action(completes)}`;
  const forms = [`--${name}`, ...(short === undefined ? [] : [`-${short}`])];
  return forms.map((form) => quote(`${many}${form}[${plain(about)}]${tail}`));
}
