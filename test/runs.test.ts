/** The end of a run of tests: processes that it has started end, and its temporary folder is removed. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { missingLinux, skips } from "../packages/node/test-support/process/available.ts";
import { lastingFolder } from "../packages/node/test-support/process/run-folder.ts";

const SUPPORT = join(import.meta.dirname, "../packages/node/test-support");

/** Starts processes as tests do, and prints their ids and the temporary folder; with "end", leaves them behind. */
const PROGRAM = `
import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import beginRun from "${SUPPORT}/process/run.ts";
await beginRun();
// A worker's child of its own session, which no signal to a process group reaches.
const worker = spawn("sh", ["-c", 'setsid sleep 600 & echo $!; wait'], { stdio: ["ignore", "pipe", "ignore"] });
const [text] = await worker.stdout.setEncoding("utf8").take(1).toArray();
const { hasPostgres, startPostgres } = await import("${SUPPORT}/postgres/server.ts");
const servers = hasPostgres && !process.argv.includes("no-server") ? [(await startPostgres()).pid()] : [];
console.log(JSON.stringify({ folder: tmpdir(), pids: [worker.pid, Number(text), ...servers] }));
if (process.argv.at(-1) === "end") process.exit();
setInterval(() => {}, 1_000);
`;

const isSkipped = skips(missingLinux());

type Run = { readonly folder: string; readonly pids: readonly number[] };

/** An ended process whose parent has not read its status has no command line. */
function isRunning(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8") !== "";
  } catch {
    return false;
  }
}

function startRun(...args: string[]) {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", PROGRAM, ...args], {
    // A run of its own, not a part of this one.
    env: { ...process.env, TMPDIR: lastingFolder() },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

async function readRun(child: ReturnType<typeof startRun>): Promise<Run> {
  const [line] = await once(createInterface(child.stdout), "line");
  return JSON.parse(line) as Run;
}

const isOver = ({ folder, pids }: Run) => !existsSync(folder) && !pids.some(isRunning);

test.skipIf(isSkipped).each([
  ["is killed", []],
  ["ends", ["end"]],
])("A run that %s leaves no process and no temporary folder.", async (_how, args) => {
  const child = startRun(...args);
  const run = await readRun(child);
  expect(lastingFolder(run.folder)).not.toBe(run.folder);
  if (args.length === 0) {
    expect([existsSync(run.folder), ...run.pids.map(isRunning)]).not.toContain(false);
    child.kill("SIGKILL");
  }
  await expect.poll(() => isOver(run)).toBe(true);
});

test.skipIf(isSkipped)(
  "The next run removes the temporary folder of a run whose guard was killed as well.",
  async () => {
    // The children of a killed server would end later.
    const child = startRun("no-server");
    const run = await readRun(child);
    const guards = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").trim().split(" ");
    const guard = guards.find((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(run.folder));
    process.kill(Number(guard), "SIGKILL");
    child.kill("SIGKILL");
    for (const pid of run.pids) if (isRunning(pid)) process.kill(pid, "SIGKILL");
    await expect.poll(() => run.pids.some(isRunning)).toBe(false);
    expect(existsSync(run.folder)).toBe(true);
    const next = await readRun(startRun("end"));
    await expect.poll(() => isOver(next) && !existsSync(run.folder)).toBe(true);
  },
);
