/** Every vector file of the project, as tests. */
import { describe, test } from "vitest";
import { vectorFiles } from "../tools/vectors/files.ts";

for (const { path, cases } of vectorFiles("test/vectors")) {
  if (!cases) test(path, ({ skip }) => skip("the file has no runner"));
  else {
    describe(path, () => {
      for (const { name, run } of cases) test(name, run);
    });
  }
}
