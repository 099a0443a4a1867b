/** The search box of the header; `/` focuses it. */
import { useEffect, useRef } from 'preact/hooks';
import { go } from '../data/location.ts';

export function SearchBox() {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== '/' || isTyping(event.target)) return;
      event.preventDefault();
      field.current?.focus();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  const search = (event: SubmitEvent) => {
    event.preventDefault();
    const text = field.current?.value.trim() ?? '';
    if (text !== '') go(`search?for=${encodeURIComponent(text)}`);
  };
  return (
    <form role="search" onSubmit={search}>
      <input
        ref={field}
        type="search"
        name="for"
        aria-label="Search jobs by id, name or tag"
        placeholder="Search   /"
        class="w-36 rounded-md border border-line bg-ground px-2.5 py-1 placeholder:text-soft sm:w-60"
      />
    </form>
  );
}

export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
