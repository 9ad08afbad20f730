/**
 * `npm run release`: writes the installable files into the folder `release`.
 *
 *   npm run release                 everything
 *   npm run release -- packages     the packages for npm only
 *   npm run release -- version      make the next version of the files in .changeset; releases nothing
 *   npm run release -- checkpoints URL...
 *                                   write a checkpoint of the network of each node, for the next release
 *
 * `--maintainer "Name <mail>"` and `--repository URL` are named in the files.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { startChain } from "@uniknode/client/testing";
import { orUsage } from "../arguments.ts";
import { checksums, packFolder } from "./archive.ts";
import { readChanges } from "./changes.ts";
import { staleCheckpoints, writeCheckpoints } from "./checkpoints.ts";
import { buildDebianPackage } from "./debian.ts";
import { releaseNotes } from "./notes.ts";
import { type Order, readOrder, silences, USAGE } from "./origin.ts";
import { compilePackages, packPackages, ROOT, versionOf } from "./packages.ts";
import { installProgram, partsList } from "./program.ts";
import { makeVersion } from "./version.ts";

const target = join(ROOT, "release");
const CHECKPOINTS = join(ROOT, "packages/client/checkpoints");
const print = (text: string) => process.stdout.write(`${text}\n`);

async function release(work: string, { what, origin }: Order): Promise<void> {
  const version = versionOf(ROOT);
  rmSync(target, { recursive: true, force: true });
  compilePackages(join(work, "compiled"), origin);
  const files = packPackages(join(work, "compiled"), target);
  if (what === "everything") {
    const program = join(work, "uniknode");
    installProgram(join(work, "compiled"), program);
    const archive = join(target, `uniknode-${version}-linux-x64.tar.gz`);
    packFolder(program, archive);
    await checkArchive(archive, version, join(work, "unpacked"));
    const debian = join(target, `uniknode_${version}_amd64.deb`);
    buildDebianPackage(program, { version, ...origin }, join(work, "debian"), debian);
    const parts = join(target, `uniknode-${version}.cdx.json`);
    writeFileSync(parts, partsList(program));
    files.push(archive, debian, parts);
    writeFileSync(
      join(target, "NOTES"),
      releaseNotes(
        version,
        readFileSync(join(ROOT, "CHANGELOG.md"), "utf8"),
        files.map((file) => basename(file)),
        origin,
      ),
    );
  }
  writeFileSync(join(target, "SHA256SUMS"), checksums(files));
  for (const file of files) print(file);
  for (const silence of silences(origin)) print(silence);
  for (const stale of staleCheckpoints(CHECKPOINTS, Date.now())) print(stale);
  const pending = readChanges(join(ROOT, ".changeset")).length;
  if (pending > 0) print(`${pending} changes are not in the notes: npm run release -- version`);
}

/** Unpacks the archive, and starts a dev chain with its program, without another runtime in the path. */
async function checkArchive(archive: string, version: string, folder: string): Promise<void> {
  execFileSync("mkdir", [folder]);
  execFileSync("tar", ["-xzf", archive, "-C", folder]);
  for (const tool of ["sh", "dirname", "readlink"])
    execFileSync("sh", ["-c", `ln -s "$(command -v ${tool})" "$0"`, folder]);
  const env = { PATH: folder };
  const program = join(folder, "uniknode/bin/uniknode");
  const printed = execFileSync(program, ["version"], { env, encoding: "utf8" });
  if (!printed.includes(`${version} program`)) throw new Error(`${archive} runs as ${printed}`);
  // Loads what a node loads: nothing that it needs was left out.
  const chain = await startChain({ command: ["env", "-i", `PATH=${folder}`, program] });
  try {
    const { head } = await chain.mine(3);
    await chain.waitFor("block.applied", ({ height }) => height === head.height);
  } finally {
    await chain.stop();
  }
}

async function run(order: Order): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), "uniknode-release-"));
  try {
    if (order.urls) for (const path of await writeCheckpoints(order.urls, CHECKPOINTS)) print(path);
    else if (order.what === "version") print(makeVersion(ROOT, new Date().toISOString().slice(0, 10)));
    else await release(work, order);
  } finally {
    rmSync(work, { recursive: true });
  }
}

const args = process.argv.slice(2);
const order = orUsage(USAGE, args, () => readOrder(args));
try {
  await run(order);
} catch (error) {
  process.stderr.write(`release: ${(error as Error).message}\n`);
  process.exitCode = 1;
}
