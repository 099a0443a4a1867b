/**
 * The table of all pages. On a narrow screen a table with `stacks` shows each row as a list of labelled values; any other
 * one hides columns, or scrolls within its panel. The page never scrolls sideways.
 */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

type Head = string | { readonly text: string; readonly class: string };

interface TableProps {
  readonly caption: string;
  readonly heads: readonly Head[];
  /** Shows rows as lists on a narrow screen: for a table whose columns do not fit there. */
  readonly stacks?: boolean;
  readonly children: ComponentChildren;
}

export function Table({ caption, heads, stacks = false, children }: TableProps) {
  const body = useRef<HTMLTableSectionElement>(null);
  useLayoutEffect(() => {
    if (stacks && body.current !== null) labelCells(body.current, heads);
  });
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
    <div class={`panel overflow-x-auto ${stacks ? 'stacks' : ''}`} role="group" tabIndex={0} aria-label={caption}>
      <table class="w-full border-collapse text-left">
        <caption class="sr-only">{caption}</caption>
        <thead>
          <tr class="border-b border-line text-xs text-soft">
            {heads.map((head) => (
              <th
                key={textOf(head)}
                scope="col"
                class={`px-2 py-2 font-medium sm:px-3 whitespace-nowrap ${typeof head === 'string' ? '' : head.class}`}
              >
                {textOf(head)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body} class="divide-y divide-line">
          {children}
        </tbody>
      </table>
    </div>
  );
}

const textOf = (head: Head): string => (typeof head === 'string' ? head : head.text);

/** Gives each cell the text of its head, which the style sheet shows before the value on a narrow screen. */
function labelCells(body: HTMLTableSectionElement, heads: readonly Head[]): void {
  for (const row of body.rows)
    for (const [place, cell] of [...row.cells].entries()) cell.dataset['label'] = textOf(heads[place] ?? '');
}

export function Cell({ children, class: className = '' }: { children?: ComponentChildren; class?: string }) {
  return <td class={`px-2 py-2 align-middle sm:px-3 ${className}`}>{children}</td>;
}
