/** One line to fill in, with its words above it. */
export const FIELD = 'w-full rounded-md border border-line bg-ground px-2 py-1';

interface FieldProps {
  readonly name: string;
  readonly words: string;
  readonly value?: string;
  readonly isNumber?: boolean;
  readonly placeholder?: string;
  readonly problem?: string | undefined;
}

export function Field({ name, words, value = '', isNumber = false, placeholder, problem }: FieldProps) {
  return (
    <label class="block text-sm">
      {words}
      <input
        name={name}
        type="text"
        inputMode={isNumber ? 'numeric' : 'text'}
        class={FIELD}
        defaultValue={value}
        placeholder={placeholder}
        aria-invalid={problem !== undefined}
      />
      {problem !== undefined && <span class="text-bad">{problem}</span>}
    </label>
  );
}

/** What was filled in, without the space around it; '' for a field that is not there. */
export function saidIn(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value.trim() : '';
}

/** `a, b` as a list. */
export function tagsOf(text: string): readonly string[] {
  return text
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
}
