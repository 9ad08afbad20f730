/** The client as others get it: installed from the file, with nothing of this repository around. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { packClient } from "../tools/client-package.ts";

const folder = mkdtempSync(join(tmpdir(), "uniknode-package-"));
const installed = join(folder, "node_modules/@uniknode/client");
afterAll(() => rmSync(folder, { recursive: true }));

beforeAll(() => {
  mkdirSync(installed, { recursive: true });
  execFileSync("tar", ["-xzf", packClient(join(folder, "out")), "-C", installed, "--strip-components=1"]);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
}, 60_000);

test("is plain JavaScript that imports nothing from elsewhere", () => {
  const files = readdirSync(join(installed, "dist"), { recursive: true, encoding: "utf8" });
  const scripts = files.filter((file) => file.endsWith(".js"));
  expect(scripts.length).toBeGreaterThan(20);
  for (const script of scripts) {
    const text = readFileSync(join(installed, "dist", script), "utf8");
    for (const [, specifier] of text.matchAll(/ from "([^"]+)"/g))
      expect(specifier).toMatch(/^\.\.?\/.*\.js$/);
  }
  const { dependencies } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
  expect(dependencies).toBeUndefined();
});

test("verifies deliveries", () => {
  writeFileSync(
    join(folder, "receiver.js"),
    `import { DeliveryError, verifyDelivery } from "@uniknode/client";
     const refused = verifyDelivery({ headers: {}, body: "" }, { secret: "00".repeat(32) });
     console.log(await refused.catch((error) => error instanceof DeliveryError && error.code));`,
  );
  const stdout = execFileSync(process.execPath, [join(folder, "receiver.js")], { encoding: "utf8" });
  expect(stdout).toBe("DELIVERY_HEADER_MISSING\n");
});

test("brings its types along", () => {
  writeFileSync(
    join(folder, "program.ts"),
    `import { createClient, type Delivery, verifyDelivery } from "@uniknode/client";
     const client = createClient({ url: "http://127.0.0.1:4003" });
     export const reward: Promise<string> = client.blocks.last().then(({ data }) => data.forged.reward);
     export const delivery: Promise<Delivery> = verifyDelivery({ headers: {}, body: "" }, { secret: "" });
     // @ts-expect-error: no such filter
     client.blocks.list({ color: "red" });`,
  );
  const compiler = fileURLToPath(new URL("../node_modules/.bin/tsc", import.meta.url));
  const flags = ["--noEmit", "--strict", "--module", "NodeNext", "--target", "ES2022", "--lib", "ES2024,DOM"];
  const output = (() => {
    try {
      return execFileSync(compiler, [...flags, "--types", "", join(folder, "program.ts")], {
        cwd: folder,
        encoding: "utf8",
      });
    } catch (error) {
      return (error as { stdout: string }).stdout;
    }
  })();
  expect(output).toBe("");
});
