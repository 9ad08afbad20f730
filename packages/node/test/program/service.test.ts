/** Files by which operators run the program as a service. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { toVariable } from "../../src/config/define-option.ts";
import { deliverOptions, mirrorOptions, serveOptions } from "../../src/config/mirror.ts";
import { runOptions } from "../../src/config/options.ts";
import type { OptionTable } from "../../src/config/resolve.ts";
import { present } from "../../src/platform/present.ts";
import { missingProgram, skips } from "../../test-support/process/available.ts";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
const OPS = new URL("../../../../ops/", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, OPS), "utf8");
/** Files, and the options of the commands that they start. */
const FILES: readonly (readonly [path: string, options: OptionTable])[] = [
  ["systemd/uniknode.service", runOptions],
  ["systemd/uniknode-mirror.service", mirrorOptions],
  ["systemd/uniknode-serve@.service", serveOptions],
  ["systemd/uniknode-deliver@.service", deliverOptions],
  ["container/Containerfile", runOptions],
  ["compose/compose.yaml", { ...runOptions, ...mirrorOptions, ...serveOptions, ...deliverOptions }],
];

test.each(FILES)("%s sets only existing options", (path, options) => {
  const known = Object.values(options).map(toVariable);
  const named = read(path).match(/UNIKNODE_[A-Z_]+/g) ?? [];
  expect(named.length).toBeGreaterThan(0);
  expect(known).toEqual(expect.arrayContaining(named));
});

test("The container copies the manifest of every package.", () => {
  const lock = JSON.parse(readFileSync(new URL("../../../../package-lock.json", import.meta.url), "utf8"));
  const packages = Object.keys(lock.packages).filter((path) => /^packages\/[^/]+$/.test(path));
  const copied = [...read("container/Containerfile").matchAll(/^COPY (packages\/\w+)\/package\.json/gm)];
  expect(copied.map(([, path]) => path).sort()).toEqual(packages.sort());
});

test("The container builds the console from the files that it copies.", async () => {
  const [, stage] = present(/ AS console\n([\s\S]*?)\nFROM /.exec(read("container/Containerfile")));
  // The build needs a native package, which is optional because each platform has its own.
  expect(stage).toMatch(/^RUN npm ci (?!.*--omit)/m);
  const copies = [...present(stage).matchAll(/^COPY (\S+) (\S+)$/gm)];
  const folder = mkdtempSync(join(tmpdir(), "uniknode-container-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const filter = (path: string) => !/\/(?:node_modules|dist|test|test-support)$/.test(path);
  for (const [, from = "", to = ""] of copies)
    cpSync(join(ROOT, from), join(folder, to === "./" ? from : to), { recursive: true, filter });
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  const vite = join(ROOT, "node_modules/vite/bin/vite.js");
  const building = spawn(process.execPath, [vite, "build"], { cwd: join(folder, "packages/console") });
  expect(await once(building, "exit")).toEqual([0, null]);
  expect(existsSync(join(folder, "packages/console/dist/index.html"))).toBe(true);
});

test.each([
  ["UNIKNODE_HTTP_PORT", 200, 0],
  ["UNIKNODE_OPERATIONS_PORT", 200, 0],
  ["CORE_API_PORT", 200, 0],
  ["UNIKNODE_HTTP_PORT", 503, 1],
])("The container's health check uses the port of %s: %i.", async (variable, healthStatus, exitCode) => {
  const server = createServer(({ url }, response) =>
    response.writeHead(url === "/health/live" ? healthStatus : 404).end(),
  ).listen(0, "127.0.0.1");
  await once(server, "listening");
  const [, command] = present(/^HEALTHCHECK.*\\\n\s+CMD (\[.*\])$/m.exec(read("container/Containerfile")));
  const [, ...parameters] = JSON.parse(present(command)) as string[];
  const { port } = server.address() as AddressInfo;
  const asking = spawn(process.execPath, parameters, { env: { [variable]: String(port) } });
  expect(await once(asking, "exit")).toEqual([exitCode, null]);
  server.close();
});

test("Containers get more time to stop than the program takes.", () => {
  const services = read("compose/compose.yaml").split(/^ {2}(?=\w+:)/m);
  const ofProgram = services.filter((service) => service.includes("image: uniknode"));
  expect(ofProgram.length).toBeGreaterThan(3);
  for (const service of ofProgram) expect(service).toContain("stop_grace_period: 20s");
  expect(read("container/Containerfile")).toContain("--stop-timeout 20 ");
});

const isSkipped = skips(missingProgram("systemd-analyze"));

const UNITS = [
  "uniknode.service",
  "uniknode-mirror.service",
  "uniknode-serve@.service",
  "uniknode-deliver@.service",
];

test.each(UNITS)("%s restarts after any signal, and leaves no core dump with keys.", (name) => {
  const unit = read(`systemd/${name}`);
  expect(unit).toMatch(/^Restart=always$/m);
  expect(unit).toMatch(/^RestartPreventExitStatus=2$/m);
  expect(unit).toMatch(/^LimitCORE=0$/m);
});

test.skipIf(isSkipped).each(UNITS)("systemd-analyze finds no error in %s", (name) => {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-unit-"));
  const unit = join(folder, name.replace("@", "@4004"));
  // The program is that of the test, not the installed one.
  writeFileSync(unit, read(`systemd/${name}`).replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`));
  const { status, stderr } = spawnSync("systemd-analyze", ["verify", unit], { encoding: "utf8" });
  rmSync(folder, { recursive: true, force: true });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
});
