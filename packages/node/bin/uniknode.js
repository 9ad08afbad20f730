#!/usr/bin/env node
// Plain JavaScript that any Node.js reads: nothing else may be loaded before the version is known to do.
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(`uniknode needs Node.js 22.19 or newer; this is ${process.versions.node}.\n`);
  process.exitCode = 1;
} else {
  const { enableCompileCache } = await import("node:module");
  const { directory } = enableCompileCache();
  // Threads take it from the environment. Later starts read compiled code instead of sources.
  if (directory) process.env.NODE_COMPILE_CACHE ??= directory;
  const { main } = await import("#main");
  process.exitCode = await main(process.argv.slice(2));
}
