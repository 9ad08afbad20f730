// Starts the program on a Node.js that is new enough.
import { enableCompileCache } from "node:module";
import { join } from "node:path";

// In a folder of the user, since what is in it runs as the user: others can write to the temporary folder.
const { NODE_COMPILE_CACHE, HOME, XDG_CACHE_HOME = HOME && join(HOME, ".cache") } = process.env;
const folder = NODE_COMPILE_CACHE || (XDG_CACHE_HOME && join(XDG_CACHE_HOME, "uniknode"));
const { directory } = folder ? enableCompileCache(folder) : {};
// Threads take it from the environment. Later starts read compiled code instead of sources.
if (directory) process.env.NODE_COMPILE_CACHE ??= directory;
await import("#own-imports");
const { main } = await import("#main");
process.exitCode = await main(process.argv.slice(2));
