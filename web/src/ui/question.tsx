/** A question before what cannot be undone, or touches many: what will happen, and the two answers. */
import type { ComponentChildren } from 'preact';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';

interface QuestionProps {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly yes: string;
  readonly no: string;
  readonly kind?: 'main' | 'danger';
  /** While it is not, there is nothing to say yes to yet. */
  readonly isReady?: boolean;
  onYes(): void;
  onNo(): void;
}

export function Question({ title, children, yes, no, kind = 'danger', isReady = true, onYes, onNo }: QuestionProps) {
  return (
    <Dialog title={title} onClose={onNo}>
      {children}
      <div class="mt-4 flex justify-end gap-2">
        <Button onClick={onNo}>{no}</Button>
        <Button kind={kind} onClick={onYes} disabled={!isReady}>
          {yes}
        </Button>
      </div>
    </Dialog>
  );
}
