/** What is to become of the jobs that wait for what is cancelled: a cancel without a word about them is refused. */
export type Dependents = 'leave' | 'cancel';

const FATES: Readonly<Record<Dependents, string>> = {
  leave: 'stay, and do what their own rule says of a job that was cancelled',
  cancel: 'are cancelled too',
};

interface AboutDependentsProps {
  /** Who waits for whom. */
  readonly words: string;
  readonly chosen: Dependents;
  choose(fate: Dependents): void;
}

export function AboutDependents({ words, chosen, choose }: AboutDependentsProps) {
  return (
    <fieldset class="mb-3">
      <legend class="font-medium">{words}</legend>
      {(Object.keys(FATES) as Dependents[]).map((fate) => (
        <label key={fate} class="flex items-center gap-2">
          <input type="radio" name="dependents" checked={chosen === fate} onChange={() => choose(fate)} /> {FATES[fate]}
        </label>
      ))}
    </fieldset>
  );
}
