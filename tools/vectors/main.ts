/** `npm run vectors -- DIR`: runs every vector file below DIR; exit code 1 when a case failed. */
import { vectorFiles } from "./files.ts";

const folder = process.argv[2];
if (!folder) {
  console.error("usage: npm run vectors -- DIR");
  process.exit(2);
}

const total = { passed: 0, failed: 0, skipped: 0 };
for (const { path, cases, size } of vectorFiles(folder)) {
  if (!cases) {
    total.skipped += size;
    console.log(`${path}: ${size} skipped, no runner for this file`);
    continue;
  }
  let [passed, failed] = [0, 0];
  for (const { name, run } of cases) {
    try {
      await run();
      passed++;
    } catch (error) {
      failed++;
      console.log(`${path}: FAILED ${name}\n  ${error instanceof Error ? error.message : error}`);
    }
  }
  console.log(`${path}: ${passed} passed${failed > 0 ? `, ${failed} failed` : ""}`);
  total.passed += passed;
  total.failed += failed;
}
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed > 0 ? 1 : 0;
