import { expect, test } from "vitest";
import { commandLine } from "../../../src/platform/lifecycle/program.ts";

test.each<[environment: NodeJS.ProcessEnv, line: string]>([
  [{}, "uniknode token"],
  [{ npm_lifecycle_event: "npx" }, "npx uniknode token"],
  [{ npm_lifecycle_event: "start", npm_package_name: "uniknode-workspace" }, "npm start -- token"],
  [{ npm_lifecycle_event: "start", npm_package_name: "an-app" }, "uniknode token"],
])("A command is named in the form in which the program was started: %j", (environment, line) => {
  expect(commandLine(environment, "token")).toBe(line);
});

test("Arguments are quoted if a shell needs it.", () => {
  expect(commandLine({}, "token", "--data", "/a b/it's")).toBe(`uniknode token --data '/a b/it'\\''s'`);
  expect(commandLine({}, "token", "--data", "/srv/uniknode.d")).toBe("uniknode token --data /srv/uniknode.d");
});
