/**
 * `npm run release`: what others install, in the folder `release`.
 *
 *   npm run release                 everything
 *   npm run release -- packages     the packages for npm only
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compilePackages, packPackages, ROOT } from "./packages.ts";

const target = join(ROOT, "release");
const work = mkdtempSync(join(tmpdir(), "uniknode-release-"));
try {
  rmSync(target, { recursive: true, force: true });
  compilePackages(work);
  for (const file of packPackages(work, target)) process.stdout.write(`${file}\n`);
} finally {
  rmSync(work, { recursive: true });
}
