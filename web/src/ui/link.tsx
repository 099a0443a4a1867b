/** A link within the page: keeps the page loaded, and is a plain link for everything else (middle click, copy, no script). */
import type { ComponentChildren } from 'preact';
import { go } from '../data/address.ts';
import { addressOf } from '../data/base.ts';

interface LinkProps {
  readonly to: string;
  readonly children: ComponentChildren;
  readonly class?: string;
  readonly title?: string;
  readonly current?: boolean;
}

export function Link({ to, children, current = false, ...rest }: LinkProps) {
  return (
    <a
      href={addressOf(to)}
      onClick={(event) => followed(event, to)}
      aria-current={current ? 'page' : undefined}
      {...rest}
    >
      {children}
    </a>
  );
}

/** Goes there within the page, unless another tab or window was asked for. */
export function followed(event: MouseEvent, to: string): void {
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  go(to);
}
