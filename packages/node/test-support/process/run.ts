/** Gives a run of tests its own temporary folder; what it has started ends with it, also after SIGKILL. */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findOpenFolder, RUN_PREFIX } from "./run-folder.ts";

const GUARD = join(import.meta.dirname, "run-guard.ts");

/** @throws {Error} if the folder cannot be created */
export default async function beginRun(): Promise<void> {
  // A run of a test, and a further one of this process, end with the first one.
  if (tmpdir().includes(`/${RUN_PREFIX}`)) return;
  const folder = join(findOpenFolder() ?? tmpdir(), `${RUN_PREFIX}${randomUUID().slice(0, 8)}`);
  // In its own session, which neither Ctrl-C nor the end of a process group ends.
  const guard = spawn(process.execPath, [GUARD, folder], {
    detached: true,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const failed = once(guard, "exit").then(([code]) =>
    Promise.reject(new Error(`${GUARD} ended with ${code}`)),
  );
  await Promise.race([once(guard.stdout, "data"), failed]);
  failed.catch(() => {});
  guard.stdout.destroy();
  guard.unref();
  (guard.stdin as Socket).unref();
  process.env.TMPDIR = folder;
}
