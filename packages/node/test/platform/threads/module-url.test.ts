import { expect, test } from "vitest";
import { moduleBeside } from "../../../src/platform/threads/module-url.ts";

test.each([
  ["file:///uniknode/src/processes/thread.ts", "file:///uniknode/src/processes/worker.ts"],
  ["file:///a%20b/dist/processes/thread.js", "file:///a%20b/dist/processes/worker.js"],
])("The code of a thread that %s starts is %s.", (importer, worker) => {
  expect(moduleBeside(importer, "worker").href).toBe(worker);
});
