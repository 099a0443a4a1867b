/** One row of a log: its number, which is a link to it, its time, and its text. The first line of a group opens and shuts it. */
import { localIso } from '../../../src/wire/spans.ts';
import type { Group } from './folds.ts';
import type { LogLine } from './live-lines.ts';
import { LogText } from './log-text.tsx';

interface RowProps {
  readonly number: number;
  readonly line: LogLine | undefined;
  readonly isWrapped: boolean;
  /** Null where no times are shown. */
  readonly time: string | null;
  readonly mark: string;
  readonly isChosen: boolean;
  readonly group: Group | undefined;
  readonly isFolded: boolean;
  onFold(line: number): void;
  onShow(line: number): void;
  onChoose(line: number, isRange: boolean): void;
}

export function LogRow(props: RowProps) {
  const { number, line, time, isChosen } = props;
  const choose = (event: MouseEvent) => {
    event.preventDefault();
    props.onChoose(number, event.shiftKey);
  };
  return (
    <div class={`flex leading-[18px] ${isChosen ? 'bg-accent-ground' : 'hover:bg-raised'}`} data-line={number}>
      <a
        class="numbers w-18 shrink-0 pr-3 text-right text-soft no-underline select-none hover:underline"
        href={`#L${number}`}
        title="A link to this line; with Shift, to all from the chosen one"
        onClick={choose}
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

/** The end of a group is a mark for the page, not for the one who reads. */
function Text({ line, mark }: { line: string; mark: string }) {
  if (!line.startsWith('::endgroup::')) return <LogText line={line} mark={mark} />;
  return (
    <span class="text-soft" title={line}>
      └
    </span>
  );
}

function RowText({ line, isWrapped, mark, group, isFolded, onFold, onShow }: RowProps) {
  const look = isWrapped ? 'whitespace-pre-wrap break-all' : 'h-[18px] overflow-hidden whitespace-pre';
  return (
    <bdi dir="ltr" class={`min-w-0 grow pr-3 ${look}`}>
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
      {group === undefined && line !== undefined && <Text line={line.text} mark={mark} />}
      {line?.dropped !== undefined && line.dropped > 0 && <Cut line={line} onShow={() => onShow(line.line)} />}
    </bdi>
  );
}
