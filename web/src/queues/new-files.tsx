/** Files for a new job: select or drop, remove, and upload progress. */
import { useState } from 'preact/hooks';
import { bytes } from '../../../src/wire/spans.ts';
import { ProgressBar } from '../ui/progress-bar.tsx';
import type { Sent } from './add-job.ts';

interface FilesProps {
  readonly files: readonly File[];
  /** Null while no upload runs. */
  readonly sent: Sent | null;
  take(list: FileList | null | undefined): void;
  drop(file: File): void;
}

export function Files({ files, sent, take, drop }: FilesProps) {
  const [isOver, setOver] = useState(false);
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    event.stopPropagation();
    setOver(false);
    take(event.dataTransfer?.files);
  };
  return (
    <>
      <label
        class={`rounded-md border border-dashed px-3 py-3 text-sm ${isOver ? 'border-accent bg-accent-ground text-accent' : 'border-line text-soft'}`}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={onDrop}
      >
        Files: select them or drop them here
        <input
          type="file"
          multiple
          class="mt-2 block w-full file:mr-3 file:rounded-md file:border file:border-solid file:border-line file:bg-sheet file:px-2.5 file:py-1 file:font-medium file:text-ink"
          onChange={(event) => take(event.currentTarget.files)}
        />
      </label>
      {files.length > 0 && (
        <ul class="grid gap-1 text-sm" aria-label="Files of the new job">
          {files.map((file, place) => (
            <li key={`${place}/${file.name}`} class="grid gap-1">
              <div class="flex items-center gap-3">
                <span class="min-w-0 break-all">{file.name}</span>
                <span class="numbers whitespace-nowrap text-soft">{bytes(file.size)}</span>
                {sent === null && (
                  <button
                    type="button"
                    class="link ml-auto"
                    aria-label={`remove ${file.name}`}
                    onClick={() => drop(file)}
                  >
                    remove
                  </button>
                )}
              </div>
              {sent !== null && <UploadProgress files={files} file={file} sent={sent} />}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** Files are uploaded one after another. */
function UploadProgress({ files, file, sent }: { files: readonly File[]; file: File; sent: Sent }) {
  const isSent = files.indexOf(file) < files.indexOf(sent.file);
  const share = file === sent.file ? sent.share : isSent ? 1 : 0;
  return <ProgressBar percent={share * 100} label={`${file.name} upload`} />;
}
