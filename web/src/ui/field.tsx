/** One line to fill in, with its words above it. */
export const FIELD = 'w-full rounded-md border border-line bg-ground px-2 py-1';

interface FieldProps {
  readonly name: string;
  readonly words: string;
  readonly value?: string;
  readonly type?: 'text' | 'number';
  readonly placeholder?: string;
  readonly problem?: string | undefined;
}

export function Field({ name, words, value = '', type = 'text', placeholder, problem }: FieldProps) {
  return (
    <label class="block text-sm">
      {words}
      <input
        name={name}
        type={type}
        class={FIELD}
        defaultValue={value}
        placeholder={placeholder}
        aria-invalid={problem !== undefined}
      />
      {problem !== undefined && <span class="text-bad">{problem}</span>}
    </label>
  );
}

/** `a, b` as a list. */
export function tagsOf(text: string): readonly string[] {
  return text
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
}
