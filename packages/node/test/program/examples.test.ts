/** `npm run example` and `npm run bench` with wrong names, arguments and addresses: one line, no stack. */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const RUN = fileURLToPath(new URL("../../../../tools/run.mjs", import.meta.url));
const ADDRESS = "DMS2cbXvEkL6dpPhpi3iLCvtu8bNXZkbJp";
/** URL at which nothing listens. */
const NOWHERE = "http://127.0.0.1:9";

function run(...args: string[]) {
  const { status, stderr } = spawnSync(process.execPath, [RUN, ...args], {
    encoding: "utf8",
    input: "some words\n",
  });
  expect(stderr).not.toMatch(/^ +at |node:internal/m);
  return { status, stderr };
}

test.each([
  [["example"], "receiver|transfer"],
  [["example", "nope"], '"nope" does not exist'],
  [["example", "../tools/parity"], "receiver|transfer"],
  [["bench", "nope"], '"nope" does not exist'],
  [["example", "receiver", "port", "secret"], "receiver PORT SECRET"],
  [["example", "receiver", "70000", "secret"], "receiver PORT SECRET"],
  [["example", "transfer", ADDRESS, "many"], "AMOUNT"],
])("%j shows the usage", (args, usage) => {
  const { status, stderr } = run(...args);
  expect(stderr).toContain(usage);
  expect(status).toBe(2);
});

test.each([
  [["transfer", ADDRESS, "1", NOWHERE], "is the node at http://127.0.0.1:9 running?"],
  [["transfer", ADDRESS, "1", "127.0.0.1:4003"], "such as http://127.0.0.1:4003"],
])("%j names the error of the URL", (args, reason) => {
  const { status, stderr } = run("example", ...args);
  expect(stderr).toContain(reason);
  expect(status).toBe(1);
});

test("A receiver whose port is in use names it.", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const { status, stderr } = run("example", "receiver", `${port}`, "secret");
  server.close();
  expect(stderr).toBe(
    `receiver: port ${port} cannot be used (EADDRINUSE); choose another one, or 0 for a free one\n`,
  );
  expect(status).toBe(1);
});
