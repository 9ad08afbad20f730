/** Buttons that save all rows of a list as a file, page by page, with progress. */

import { useRef, useState } from "preact/hooks";
import { announce } from "../announce.tsx";
import { errorText } from "../error-text.ts";
import { countText } from "../format.ts";
import { download } from "./download.ts";
import { type Cells, type Format, partsOf } from "./rows.ts";

export type ExportButtonsProps = {
  /** File name without extension. */
  readonly name: string;
  readonly rows: () => AsyncIterable<Cells>;
};

const TYPES: Readonly<Record<Format, string>> = { csv: "text/csv", json: "application/json" };

export function ExportButtons({ name, rows }: ExportButtonsProps) {
  const [done, setDone] = useState<number>();
  const [error, setError] = useState<string>();
  const isStopped = useRef(false);

  async function save(format: Format): Promise<void> {
    setError(undefined);
    isStopped.current = false;
    const parts: string[] = [];
    try {
      for await (const part of partsOf(rows(), format)) {
        if (isStopped.current) return;
        parts.push(part);
        if (parts.length % 100 === 1) setDone(parts.length);
      }
      download(new Blob(parts, { type: TYPES[format] }), `${name}.${format}`);
      announce(`${name}.${format} is saved`);
    } catch (error) {
      setError(errorText(error));
    } finally {
      setDone(undefined);
    }
  }

  if (done !== undefined) {
    return (
      <span class="export" role="status">
        {countText(done)} rows read{" "}
        <button type="button" class="plain" onClick={() => (isStopped.current = true)}>
          Stop
        </button>
      </span>
    );
  }
  return (
    <span class="export">
      {error !== undefined && <span class="bad-text">{error} </span>}
      {(["csv", "json"] as const).map((format) => (
        <button key={format} type="button" class="plain" onClick={() => void save(format)}>
          Save {format.toUpperCase()}
        </button>
      ))}
    </span>
  );
}
