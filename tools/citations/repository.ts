/** Reads the sources and documents of a folder, except installed, built, hidden and excluded files. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path/posix";
import type { Repository } from "./documents.ts";

const SKIPPED = new Set(["node_modules", "dist", "coverage"]);

export function readRepository(root: string, excluded: readonly string[] = []): Repository {
  const texts = new Map<string, string>();
  const visit = (folder: string) => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.name.startsWith(".") || SKIPPED.has(entry.name) || excluded.includes(path)) continue;
      if (entry.isDirectory()) visit(path);
      else if (/\.(ts|mjs|md|sql|service)$/.test(entry.name))
        texts.set(path, readFileSync(join(root, path), "utf8"));
    }
  };
  visit("");
  return { texts, exists: (path) => existsSync(join(root, path)) };
}
