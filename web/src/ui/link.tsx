/** A link within the web UI: navigates without a reload; middle click and copy work as for any link. */
import type { ComponentChildren } from 'preact';
import { addressOf } from '../data/base.ts';
import { go } from '../data/location.ts';

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
      onClick={(event) => followLink(event, to)}
      aria-current={current ? 'page' : undefined}
      {...rest}
    >
      {children}
    </a>
  );
}

/** Navigates within the web UI, unless the click asks for another tab or window. */
export function followLink(event: MouseEvent, to: string): void {
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  go(to);
}
