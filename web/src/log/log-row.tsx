/** One row of a log: line number as a link, timestamp and text. The first line of a group folds it. */
import { localIso } from '../../../src/wire/spans.ts';
import type { Group } from './folds.ts';
import type { LogLine } from './live-lines.ts';
import { LogText } from './log-text.tsx';

interface RowProps {
  readonly number: number;
  readonly line: LogLine | undefined;
  readonly isWrapped: boolean;
  /** Null if timestamps are off. */
  readonly time: string | null;
  readonly highlight: string;
  readonly isSelected: boolean;
  readonly group: Group | undefined;
  readonly isFolded: boolean;
  onFold(line: number): void;
  onShow(line: number): void;
  onSelect(line: number, isRange: boolean): void;
}

export function LogRow(props: RowProps) {
  const { number, line, time, isSelected } = props;
  const select = (event: MouseEvent) => {
    event.preventDefault();
    props.onSelect(number, event.shiftKey);
  };
  return (
    <div class={`flex leading-[18px] ${isSelected ? 'bg-accent-ground' : 'hover:bg-raised'}`} data-line={number}>
      <a
        class="numbers w-18 shrink-0 pr-3 text-right text-soft no-underline select-none hover:underline"
        href={`#L${number}`}
        title="Link to this line; Shift-click selects a range"
        onClick={select}
      >
        {number}
      </a>
      {time !== null && (
        <span class="numbers w-20 shrink-0 text-soft select-none" title={line?.at == null ? '' : localIso(line.at)}>
          {time}
        </span>
      )}
      <RowText {...props} />
    </div>
  );
}

function Cut({ line, onShow }: { line: LogLine; onShow: () => void }) {
  return (
    <>
      <span class="text-soft"> … {line.dropped?.toLocaleString('en')} more characters in the file </span>
      <button type="button" class="link" onClick={onShow}>
        show
      </button>
    </>
  );
}

/** Shows the end marker of a group as a corner. */
function Text({ line, highlight }: { line: string; highlight: string }) {
  if (!line.startsWith('::endgroup::')) return <LogText line={line} highlight={highlight} />;
  return (
    <span class="text-soft" title={line}>
      └
    </span>
  );
}

function RowText({ line, isWrapped, highlight, group, isFolded, onFold, onShow }: RowProps) {
  const className = isWrapped ? 'whitespace-pre-wrap break-all' : 'h-[18px] overflow-hidden whitespace-pre';
  return (
    <bdi dir="ltr" class={`min-w-0 grow pr-3 ${className}`}>
      {group !== undefined && (
        <button
          type="button"
          class="font-semibold text-accent"
          aria-expanded={!isFolded}
          onClick={() => onFold(group.line)}
        >
          {isFolded ? '▸' : '▾'} {group.title}
          {isFolded && <span class="font-normal text-soft"> ({group.end - group.line} lines)</span>}
        </button>
      )}
      {group === undefined && line === undefined && <span class="text-soft">…</span>}
      {group === undefined && line !== undefined && <Text line={line.text} highlight={highlight} />}
      {line?.dropped !== undefined && line.dropped > 0 && <Cut line={line} onShow={() => onShow(line.line)} />}
    </bdi>
  );
}
