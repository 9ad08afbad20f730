/** Every vector file of the project, as tests. */
import { describe, test } from "vitest";
import { vectorFiles } from "../tools/vectors/files.ts";

for (const { path, cases } of vectorFiles("test/vectors")) {
  // A file without runner is shown as skipped.
  if (!cases) test.skip(path);
  else {
    describe(path, () => {
      for (const { name, run } of cases) test(name, run);
    });
  }
}
