/** Asks for confirmation before a destructive or bulk action, and describes its effect. */
import type { ComponentChildren } from 'preact';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';

interface ConfirmDialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly confirmLabel: string;
  readonly kind?: 'main' | 'danger';
  /** False disables the confirm button. */
  readonly isReady?: boolean;
  onConfirm(): void;
  onClose(): void;
}

export function ConfirmDialog({
  title,
  children,
  confirmLabel,
  kind = 'danger',
  isReady = true,
  onConfirm,
  onClose,
}: ConfirmDialogProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <div class="mt-4 flex justify-end gap-2">
        <Button onClick={onClose}>Close</Button>
        <Button kind={kind} onClick={onConfirm} disabled={!isReady}>
          {confirmLabel}
        </Button>
      </div>
    </Dialog>
  );
}
