import { expect, test } from "vitest";
import { createLogger, textLine } from "../../../src/platform/logging/logger.ts";

const PLAIN = { hasColors: false, clearsLine: false };

/** Text of a log entry, without the time of day. */
function logged(log: (logger: ReturnType<typeof createLogger>) => void, style = PLAIN): string {
  let text = "";
  log(
    createLogger("info", {
      write(line) {
        text += textLine(line, style);
      },
    }),
  );

  return text.replace(/\d\d:\d\d:\d\d {2}/, "");
}

test("A line has level, message and fields.", () => {
  expect(logged((logger) => logger.info({ height: 4, reason: "too late", ports: [1] }, "slot missed"))).toBe(
    'info   slot missed  height=4  reason="too late"  ports=[1]\n',
  );
  expect(logged((logger) => logger.warn("a message alone"))).toBe("warn   a message alone\n");
});

test("An error with a code is one line; one without is a bug in uniknode and has its stack.", () => {
  const full = Object.assign(new Error("no access"), { code: "EACCES" });
  expect(logged((logger) => logger.error({ err: full }, "it failed"))).toBe(
    "error  it failed  no access (EACCES)\n",
  );
  const [first, ...calls] = logged((logger) => logger.error({ err: new Error("oh") }, "it failed")).split(
    "\n",
  );
  expect(first).toBe("error  it failed  oh");
  expect(calls[0]).toMatch(/^ {4}at .*text-line\.test\.ts/);
});

test("Foreign texts reach the terminal without control characters.", () => {
  expect(logged((logger) => logger.info({ name: "a\u001B[2Jb" }, "a\u0007peer"))).toBe(
    "info   a\\u0007peer  name=a\\u001b[2Jb\n",
  );
});

test("Levels have colours, and a status line is cleared, if the terminal supports it.", () => {
  const style = { hasColors: true, clearsLine: true };
  expect(logged((logger) => logger.error("oh"), style)).toBe("\r\u001B[K\u001B[31merror\u001B[0m  oh\n");
  expect(logged((logger) => logger.info("well"), style)).toBe("\r\u001B[Kinfo   well\n");
});
