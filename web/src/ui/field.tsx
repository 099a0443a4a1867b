/** A text input with its label and an optional error. */
export const FIELD = 'w-full rounded-md border border-line bg-ground px-2 py-1';

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly value?: string;
  readonly isNumber?: boolean;
  readonly placeholder?: string;
  readonly problem?: string | undefined;
}

export function Field({ name, label, value = '', isNumber = false, placeholder, problem }: FieldProps) {
  return (
    <label class="block text-sm">
      {label}
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

/** Returns the trimmed value of a field; '' for a missing field. */
export function fieldValue(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value.trim() : '';
}

/** Parses `a, b` into a list. */
export function tagsOf(text: string): readonly string[] {
  return text
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
}
