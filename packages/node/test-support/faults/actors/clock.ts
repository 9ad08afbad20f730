/** The clock of a machine, as the processes of a folder see it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { SpawnOptions } from "../../process/uniknode.ts";

const CLOCK_JUMPS = fileURLToPath(new URL("./clock-jumps.ts", import.meta.url));

const fileOf = (folder: string): string => join(folder, "clock");

/** Moves the clock. */
export const setClock = (folder: string, aheadMs: number): void =>
  writeFileSync(fileOf(folder), String(aheadMs));

/** Options of a process that uses this clock; `setClock` must be called before it starts. */
export const clockOptions = (
  folder: string,
): Required<Pick<SpawnOptions, "nodeArguments" | "environment">> => ({
  nodeArguments: ["--import", CLOCK_JUMPS],
  environment: { UNIKNODE_TEST_CLOCK: fileOf(folder) },
});
