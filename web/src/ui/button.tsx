/** Buttons: plain, primary, and destructive. */
import type { ComponentChildren } from 'preact';

interface ButtonProps {
  readonly children: ComponentChildren;
  readonly onClick?: () => void;
  readonly kind?: 'plain' | 'main' | 'danger';
  readonly disabled?: boolean;
  readonly title?: string;
  readonly type?: 'button' | 'submit';
}

const CLASSES = {
  plain: 'border-line bg-sheet hover:bg-raised text-ink',
  main: 'border-accent bg-accent text-on-accent hover:opacity-90',
  danger: 'border-bad bg-sheet text-bad hover:bg-bad-ground',
} as const;

export function Button({ children, onClick, kind = 'plain', type = 'button', disabled = false, title }: ButtonProps) {
  return (
    <button
      type={type}
      class={`rounded-md border px-2.5 py-1 text-sm font-medium whitespace-nowrap disabled:cursor-not-allowed disabled:opacity-50 ${CLASSES[kind]}`}
      disabled={disabled}
      title={title}
      onClick={onClick}
    >
      {children}
    </button>
  );
}
