/** The options of Node that an isolated process gets from its worker. Pure. */

/** Options that are meant for one process: a program text, a port of the debugger, the modes of Node that run files. */
const OWN_OPTIONS =
  /^(?:-e|-p|-pe|-i|--eval|--print|--interactive|--inspect[\w-]*|--watch[\w-]*|--test[\w-]*|--check|-c)(?:=|$)/;
const WITH_TEXT = /^(?:-e|-p|-pe|--eval|--print)$/;

/** Returns the options without those of the worker alone: loaders, conditions and memory limits are inherited. */
export function inheritedOptions(execArgv: readonly string[]): string[] {
  return execArgv.filter(
    (option, index) => !OWN_OPTIONS.test(option) && !WITH_TEXT.test(index > 0 ? (execArgv[index - 1] ?? '') : ''),
  );
}
