/**
 * How long the functions and files of src/ and of the web page are, and which of them want a reason.
 */
import { lineAt, type SourceFile, type SyntaxNode, walk } from './source-tree.ts';

export const limits = { medianLines: 12, functionLines: 60, fileLines: 300 };

export interface FunctionLength {
  readonly place: string;
  readonly lines: number;
  /** Callbacks written in place have no name; they would make the median look better than it is. */
  readonly isNamed: boolean;
  readonly hasReason: boolean;
}

const functionTypes = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);
const namingTypes = new Set(['VariableDeclarator', 'Property', 'PropertyDefinition', 'MethodDefinition']);

export function measureFunctions(file: SourceFile): FunctionLength[] {
  const lengths: FunctionLength[] = [];
  for (const { node, around } of walk(file)) {
    if (!functionTypes.has(node.type) || !node['body']) continue;
    const first = lineAt(file.text, startOf(node, around));
    const lines = lineAt(file.text, node.end) - lineAt(file.text, node.start) + 1;
    const isNamed = node.type === 'FunctionDeclaration' || namingTypes.has(around[0]?.type ?? '');
    lengths.push({ place: `${file.path}:${first}`, lines, isNamed, hasReason: hasReasonAbove(file.text, first) });
  }
  return lengths;
}

/** Where a reader sees the function begin: at its `export`, its `const`, or the name of the method. */
function startOf(node: SyntaxNode, around: readonly SyntaxNode[]): number {
  const wrappers = new Set([...namingTypes, 'VariableDeclaration', 'ExportNamedDeclaration']);
  const end = around.findIndex((each) => !wrappers.has(each.type));
  return around.slice(0, end).at(-1)?.start ?? node.start;
}

/** In the comment that stands directly above, one line begins with "Long because". */
function hasReasonAbove(text: string, line: number): boolean {
  const above = text
    .split('\n')
    .slice(0, line - 1)
    .reverse();
  const isComment = (each: string) => /^\s*(\/\/|\/?\*)/.test(each);
  const end = above.findIndex((each) => !isComment(each));
  return above.slice(0, end < 0 ? above.length : end).some(isReason);
}

const isReason = (line: string) => /^\s*(\/\/|\/?\*\*?) ?Long because/.test(line);

/** Functions and files beyond the limits that say no reason. */
export function findTooLong(files: readonly SourceFile[]): string[] {
  const functions = files
    .flatMap(measureFunctions)
    .filter(({ lines, hasReason }) => lines > limits.functionLines && !hasReason)
    .map(
      ({ place, lines }) =>
        `${place}: a function of ${lines} lines; above ${limits.functionLines} it wants "// Long because …"`,
    );
  const long = files
    .map(({ path, text }) => ({ path, lines: text.trimEnd().split('\n') }))
    .filter(({ lines }) => lines.length > limits.fileLines && !lines.slice(0, 12).some(isReason))
    .map(
      ({ path, lines }) =>
        `${path}: ${lines.length} lines; above ${limits.fileLines} it wants "// Long because …" at the top`,
    );
  return [...functions, ...long];
}

/** The figures of all named functions. */
export function summarise(files: readonly SourceFile[]): {
  count: number;
  median: number;
  p90: number;
  longest: number;
} {
  const lines = files
    .flatMap(measureFunctions)
    .filter(({ isNamed }) => isNamed)
    .map((each) => each.lines)
    .sort((a, b) => a - b);
  const at = (share: number) => lines[Math.min(lines.length - 1, Math.floor(lines.length * share))] ?? 0;
  return { count: lines.length, median: at(0.5), p90: at(0.9), longest: lines.at(-1) ?? 0 };
}
