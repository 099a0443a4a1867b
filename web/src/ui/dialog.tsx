/** A modal dialog: the browser's `<dialog>`, which handles focus, Escape and the backdrop. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface DialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  onClose(): void;
}

export function Dialog({ title, children, onClose }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
    return () => dialog.current?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-label={title}
      class="m-auto w-[min(44rem,94vw)] rounded-lg border border-line bg-sheet p-0 text-ink shadow-2xl backdrop:bg-black/50"
      onClose={onClose}
    >
      <div class="flex items-center justify-between border-b border-line px-4 py-2.5">
        <h2 class="text-base font-semibold">{title}</h2>
        <button type="button" class="rounded px-2 text-soft hover:bg-raised" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </div>
      <div class="max-h-[80vh] overflow-y-auto px-4 py-3">{children}</div>
    </dialog>
  );
}
