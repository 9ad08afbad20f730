/** The commands of docs/guides/conform.md, and the report that the guide shows. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { blocksOf, ROOT } from "../../test-support/guides/page.ts";
import { freePort } from "../../test-support/peers/world.ts";

const PROGRAM = fileURLToPath(new URL("../../bin/uniknode.js", import.meta.url));
const [start, play] = blocksOf("docs/guides/conform.md").filter(({ language }) => language === "sh");
const [report] = blocksOf("docs/guides/conform.md").filter(({ language }) => language === "text");

/** Runs commands in a shell, in the folder of the clone. */
function run(
  commands: string,
  environment: NodeJS.ProcessEnv,
): ChildProcess & { stdout: NodeJS.ReadableStream } {
  const child = spawn("bash", ["-c", commands], {
    cwd: ROOT,
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    process.kill(-present(child.pid), "SIGKILL");
    await once(child, "exit");
  });
  return child;
}

const isReady = (url: string): Promise<boolean> =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );

test("The example receiver of the guide passes as the guide shows.", async () => {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-conform-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const port = `${await freePort()}`;
  const url = `http://127.0.0.1:${port}/conform`;
  const environment = { PORT: port, DATABASE: join(folder, "receiver.sqlite") };
  run(present(start).text.replace("node ", `${process.execPath} `), environment);
  await expect.poll(() => isReady(url)).toBe(true);

  const command = present(play).text.replace("uniknode ", `${process.execPath} ${PROGRAM} `);
  const child = run(command.replaceAll("8000", port), {});
  const output = await text(child.stdout);
  const withoutTimes = (lines: string): string => lines.replaceAll(/\d+ ms/g, "N ms");
  for (const shown of present(report)
    .text.split("\n")
    .filter((shown) => shown !== "..." && shown !== "")) {
    expect(withoutTimes(output)).toContain(withoutTimes(shown));
  }
});

test("The example of the guide names the version that it needs.", async () => {
  const example = "node --no-experimental-sqlite examples/receivers/receiver.mjs 2>&1";
  const child = run(example, { WEBHOOK_SECRET: "whsec_aa" });
  expect(await text(child.stdout)).toMatch(/^Node\.js 22\.13 or newer is required, but this is [\d.]+\.\n$/);
});
