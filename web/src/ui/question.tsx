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
  onYes(): void;
  onNo(): void;
}

export function Question({ title, children, yes, no, kind = 'danger', onYes, onNo }: QuestionProps) {
  return (
    <Dialog title={title} onClose={onNo}>
      {children}
      <div class="mt-4 flex justify-end gap-2">
        <Button onClick={onNo}>{no}</Button>
        <Button kind={kind} onClick={onYes}>
          {yes}
        </Button>
      </div>
    </Dialog>
  );
}
