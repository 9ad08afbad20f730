/** A dev chain opens its console in the browser of a desktop. */
import { Command } from "commander";
import { expect, test } from "vitest";
import { addFlags, readConfig } from "../../../src/commands/flags.ts";
import { devOptions } from "../../../src/config/options.ts";
import { openerOf } from "../../../src/processes/dev.ts";

test.each([
  ["linux", { DISPLAY: ":0" }, "xdg-open"],
  ["linux", { WAYLAND_DISPLAY: "wayland-0" }, "xdg-open"],
  ["linux", {}, undefined],
  ["linux", { DISPLAY: ":0", SSH_CONNECTION: "192.0.2.1 1 192.0.2.2 22" }, undefined],
  ["darwin", {}, "open"],
  ["win32", {}, undefined],
] as const)("On %s with %j, the program that opens a URL is %s.", (platform, environment, program) => {
  expect(openerOf(platform, environment)).toBe(program);
});

test("The console is opened unless --no-open is given.", () => {
  const noOpen = (...args: string[]) => {
    const command = addFlags(new Command(), devOptions).parse(args, { from: "user" });
    return readConfig(command, devOptions).noOpen;
  };
  expect([noOpen(), noOpen("--no-open")]).toEqual([false, true]);
});
