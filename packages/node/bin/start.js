// Starts the program on a Node.js that is new enough.
import { enableCompileCache } from "node:module";

const { directory } = enableCompileCache();
// Threads take it from the environment. Later starts read compiled code instead of sources.
if (directory) process.env.NODE_COMPILE_CACHE ??= directory;
const { main } = await import("#main");
process.exitCode = await main(process.argv.slice(2));
