/** Progress of a job; indeterminate without a number. */
export function ProgressBar({ percent, label }: { percent: number | null; label: string }) {
  const shown = percent === null ? null : Math.max(0, Math.min(100, percent));
  return (
    <div class="flex items-center gap-2 min-w-28">
      <progress
        class="h-1.5 w-full appearance-none overflow-hidden rounded-full bg-raised [&::-webkit-progress-bar]:bg-raised [&::-webkit-progress-value]:rounded-full [&::-webkit-progress-value]:bg-accent [&::-moz-progress-bar]:bg-accent"
        aria-label={label}
        max={100}
        {...(shown === null ? {} : { value: shown })}
      />
      <span class="numbers w-10 shrink-0 text-right text-xs whitespace-nowrap text-soft">
        {shown === null ? '' : `${Math.floor(shown)} %`}
      </span>
    </div>
  );
}
