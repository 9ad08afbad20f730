/** The vector files below a folder, each with its runner. */
import { readdirSync, readFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { transcript } from "./p2p-frames.ts";
import { runners } from "./runners.ts";
import type { VectorCase } from "./vector.ts";

/** `cases` is absent where no runner knows the file. */
export type VectorFile = {
  readonly path: string;
  readonly cases?: Iterable<VectorCase>;
  readonly size: number;
};

/** A recorded connection is known by its steps, whatever it is called. */
const runnerOf = ({ steps }: { steps?: unknown }) => (Array.isArray(steps) ? transcript : undefined);

export function* vectorFiles(folder: string): Iterable<VectorFile> {
  // Recorded responses of the API are compared with a server (`npm run parity`).
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (path) => path.endsWith(".json") && !/(^|\/)api\//.test(path),
  );
  for (const path of paths.sort()) {
    const content = JSON.parse(readFileSync(join(folder, path), "utf8"));
    const runner = runners[content.kind ?? basename(path, ".json")] ?? runnerOf(content);
    const size = Array.isArray(content.cases) ? content.cases.length : 1;
    yield { path: relative(".", join(folder, path)), size, ...(runner && { cases: runner(content) }) };
  }
}
