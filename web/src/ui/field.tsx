/** A text input with its label and an optional error. */
export const FIELD = 'w-full rounded-md border border-line bg-ground px-2 py-1';

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly value?: string;
  readonly isNumber?: boolean;
  readonly placeholder?: string;
  readonly problem?: string | undefined;
  /** The allowed values, for a select. */
  readonly choices?: readonly string[] | undefined;
}

export function Field({ name, label, value = '', isNumber = false, placeholder, problem, choices }: FieldProps) {
  if (choices !== undefined)
    return (
      <label class="block text-sm">
        {label}
        <Choice {...{ name, value, choices, problem }} />
        {problem !== undefined && <span class="text-bad">{problem}</span>}
      </label>
    );
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

type ChoiceProps = Pick<FieldProps, 'name' | 'problem'> & {
  readonly value: string;
  readonly choices: readonly string[];
};

/** A select; a value that is not among the choices stays selectable. */
export function Choice({ name, value, choices, problem }: ChoiceProps) {
  const all = choices.includes(value) ? choices : [value, ...choices];
  return (
    <select name={name} class={FIELD} aria-invalid={problem !== undefined}>
      {all.map((each) => (
        <option key={each} value={each} selected={each === value}>
          {each === '' ? 'none' : each}
        </option>
      ))}
    </select>
  );
}

/** The buttons of a long form, always in sight. */
export const STICKY = 'sticky -bottom-3 -mx-4 -mb-3 border-t border-line bg-sheet px-4 py-2.5';

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
