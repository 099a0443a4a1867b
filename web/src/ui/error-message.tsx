/** An error of the node: its message and the path of each problem. */
import type { CallError } from '../data/call.ts';

export function ErrorMessage({ error }: { error: CallError | null }) {
  if (error === null) return null;
  const problems = error.details?.problems ?? [];
  return (
    <div role="alert" class="rounded-md border border-bad bg-bad-ground px-3 py-2 text-bad">
      <p class="font-medium break-words">{error.message}</p>
      {problems.length > 0 && (
        <ul class="mt-1 list-disc pl-5">
          {problems.map(({ path, message }) => (
            <li key={path} class="break-words">
              {path !== '' && <code class="font-mono">{path}</code>} {message}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
