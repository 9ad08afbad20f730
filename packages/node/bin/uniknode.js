#!/usr/bin/env node
// Syntax that every Node.js reads: nothing else may be loaded before the version is known to do.
const [major, minor] = process.versions.node.split(".").map(Number);
if (major > 22 || (major === 22 && minor >= 19)) {
  import("./start.js");
} else {
  process.stderr.write(
    `uniknode needs Node.js 22.19 or newer, but this is ${process.versions.node}: ` +
      "install a newer version, or use the archive, which contains its own runtime\n",
  );
  process.exitCode = 1;
}
