/** Chooses what happens to the dependents of a cancelled job. Without this choice the node refuses the cancel. */
export type Dependents = 'leave' | 'cancel';

const CHOICES: Readonly<Record<Dependents, string>> = {
  leave: 'keep waiting, or end by their own rule for cancelled parents',
  cancel: 'cancel them too',
};

interface DependentsChoiceProps {
  /** Describes the dependents. */
  readonly legend: string;
  readonly selected: Dependents;
  select(choice: Dependents): void;
}

export function DependentsChoice({ legend, selected, select }: DependentsChoiceProps) {
  return (
    <fieldset class="mb-3">
      <legend class="font-medium">{legend}</legend>
      {(Object.keys(CHOICES) as Dependents[]).map((choice) => (
        <label key={choice} class="flex items-center gap-2">
          <input type="radio" name="dependents" checked={selected === choice} onChange={() => select(choice)} />{' '}
          {CHOICES[choice]}
        </label>
      ))}
    </fieldset>
  );
}
