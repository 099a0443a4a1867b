/** The table of all pages. On a narrow screen the table scrolls, not the page. */
import type { ComponentChildren } from 'preact';

interface TableProps {
  readonly caption: string;
  readonly heads: readonly (string | { readonly text: string; readonly class: string })[];
  readonly children: ComponentChildren;
}

export function Table({ caption, heads, children }: TableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
    <section class="panel overflow-x-auto" tabIndex={0} aria-label={caption}>
      <table class="w-full border-collapse text-left">
        <caption class="sr-only">{caption}</caption>
        <thead>
          <tr class="border-b border-line text-xs text-soft">
            {heads.map((head) => (
              <th
                key={typeof head === 'string' ? head : head.text}
                scope="col"
                class={`px-2 py-2 font-medium sm:px-3 whitespace-nowrap ${typeof head === 'string' ? '' : head.class}`}
              >
                {typeof head === 'string' ? head : head.text}
              </th>
            ))}
          </tr>
        </thead>
        <tbody class="divide-y divide-line">{children}</tbody>
      </table>
    </section>
  );
}

export function Cell({ children, class: className = '' }: { children?: ComponentChildren; class?: string }) {
  return <td class={`px-2 py-2 align-middle sm:px-3 ${className}`}>{children}</td>;
}
