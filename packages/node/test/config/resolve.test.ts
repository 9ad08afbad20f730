import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { connectionOptions } from "../../src/config/connection.ts";
import { toFlag, toVariable } from "../../src/config/define-option.ts";
import { devOptions, nodeOptions, runOptions } from "../../src/config/options.ts";
import { maskConfig, resolveConfig } from "../../src/config/resolve.ts";
import { secretsOf } from "../../src/forger/delegates.ts";
import { ConfigError } from "../../src/platform/coded-error.ts";

const none = { flags: {}, environment: {} };

function configFile(content: unknown): string {
  const path = join(mkdtempSync(join(tmpdir(), "uniknode-config-")), "config.json");
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

describe("precedence", () => {
  const file = configFile({ httpPort: 3 });

  test("A flag takes precedence over all others.", () => {
    const sources = { flags: { httpPort: "1" }, environment: { UNIKNODE_HTTP_PORT: "2" }, file };
    expect(resolveConfig(nodeOptions, sources).httpPort).toBe(1);
  });

  test("The environment takes precedence over the file.", () => {
    expect(
      resolveConfig(nodeOptions, { ...none, environment: { UNIKNODE_HTTP_PORT: "2" }, file }).httpPort,
    ).toBe(2);
  });

  test("A variable of the old node takes precedence over the file, and not over the one of this node.", () => {
    const resolve = (environment: Record<string, string>) =>
      resolveConfig(nodeOptions, { ...none, environment, file }).httpPort;
    expect(resolve({ CORE_API_PORT: "4" })).toBe(4);
    expect(resolve({ CORE_API_PORT: "4", UNIKNODE_HTTP_PORT: "2" })).toBe(2);
    expect(resolve({ CORE_API_PORT: "" })).toBe(3);
    expect(() => resolve({ CORE_API_PORT: "x" })).toThrow("environment variable CORE_API_PORT");
  });

  test("A container of the old node needs no other variables.", () => {
    const environment = {
      UNS_NET: "sandbox",
      CORE_API_RATE_LIMIT_USER_LIMIT: "300",
      CORE_P2P_PORT: "4005",
      CORE_P2P_RATE_LIMIT: "50",
      CORE_LOG_LEVEL: "trace",
    };
    const config = resolveConfig(runOptions, { flags: {}, environment });
    expect(config).toMatchObject({
      network: "sandbox",
      rateLimit: 300,
      p2pPort: 4005,
      p2pRateLimit: 50,
      logLevel: "trace",
    });
  });

  test("The variable of old containers enables webhooks with any value, and they are enabled without it.", () => {
    const webhooks = (environment: Record<string, string>, content = {}) =>
      resolveConfig(nodeOptions, { flags: {}, environment, file: configFile(content) }).webhooks;
    expect(webhooks({})).toBe("on");
    expect(webhooks({ UNIKNODE_WEBHOOKS: "off" })).toBe("off");
    for (const text of ["true", "false", "0"]) {
      expect(webhooks({ CORE_WEBHOOKS_ENABLED: text }, { webhooks: "off" })).toBe("on");
      expect(webhooks({ CORE_WEBHOOKS_ENABLED: text, UNIKNODE_WEBHOOKS: "off" })).toBe("off");
    }
    expect(webhooks({ CORE_WEBHOOKS_ENABLED: "" }, { webhooks: "off" })).toBe("off");
  });

  test("Passphrases of old containers are one, or several in quotation marks.", () => {
    const secrets = (environment: Record<string, string>) =>
      secretsOf(resolveConfig(nodeOptions, { flags: {}, environment }));
    expect(secrets({ FORGER_SECRET: "one two three" })).toEqual(["one two three"]);
    expect(secrets({ FORGERS_SECRET: '"one two","three four"' })).toEqual(["one two", "three four"]);
    expect(secrets({ FORGERS_SECRET: '"one, two" , "three"' })).toEqual(["one, two", "three"]);
    expect(secrets({ FORGER_SECRET: "one, two" })).toEqual(["one, two"]);
    expect(secrets({ UNIKNODE_FORGER_SECRETS: "five,six", FORGERS_SECRET: '"one"' })).toEqual([
      "five",
      "six",
    ]);
    expect(secrets({ UNIKNODE_FORGER_SECRETS: "five", FORGER_SECRET: "one" })).toEqual(["five", "one"]);
    expect(() => secrets({ FORGERS_SECRET: '"one", two' })).toThrow(
      "FORGERS_SECRET: strings in double quotes",
    );
    // The key of an empty passphrase is known to everyone.
    for (const text of ["five,", ",", "five,,six", '"five",""', '"five"," "']) {
      expect(() => secrets({ UNIKNODE_FORGER_SECRETS: text })).toThrow("one of the passphrases is empty");
    }
    expect(() => secrets({ FORGER_SECRET: " " })).toThrow("FORGER_SECRET: a non-empty string is expected");
  });

  test("The file takes precedence over the default.", () => {
    expect(resolveConfig(nodeOptions, { ...none, file }).httpPort).toBe(3);
  });

  test("The default applies otherwise.", () => {
    expect(resolveConfig(nodeOptions, none)).toMatchObject({ httpPort: 4003, httpHost: "127.0.0.1" });
    expect(resolveConfig(nodeOptions, none).data).toBeUndefined();
  });
});

describe("refusals name the source and the remedy", () => {
  test.each([
    [
      { flags: { httpPort: "70000" }, environment: {} },
      "--http-port: an integer from 0 to 65535 is expected",
    ],
    [{ flags: {}, environment: { UNIKNODE_HTTP_PORT: "" } }, "environment variable UNIKNODE_HTTP_PORT"],
    [
      { flags: { logLevel: "loud" }, environment: {} },
      "one of error, warn, info, debug, trace, silent is expected",
    ],
    [{ ...none, file: configFile({ httpPrt: 1 }) }, '"httpPrt" in'],
    [{ ...none, file: configFile({ constructor: 1 }) }, '"constructor" in'],
    [{ ...none, file: configFile('{"__proto__": {"httpPort": 1}}') }, '"__proto__" in'],
    [{ ...none, file: configFile("{") }, "cannot be read"],
    [{ ...none, file: configFile("[]") }, "it must be a JSON object"],
    [{ ...none, file: "/nowhere/config.json" }, "cannot be read"],
  ])("%#", (sources, message) => {
    expect(() => resolveConfig(nodeOptions, sources)).toThrow(ConfigError);
    expect(() => resolveConfig(nodeOptions, sources)).toThrow(message);
  });

  test("The base URL of a node has no parts that requests would not contain.", () => {
    const resolve = (url: string) => resolveConfig(connectionOptions, { ...none, flags: { url } }).url;
    for (const part of ["user@127.0.0.1", "user:password@127.0.0.1", "127.0.0.1/?a=1", "127.0.0.1/#b"]) {
      expect(() => resolve(`http://${part}`)).toThrow("without user, query and fragment");
    }
    expect(resolve("http://127.0.0.1/node/")).toBe("http://127.0.0.1/node/");
  });

  test("A refused secret is not shown.", () => {
    const resolve = () => resolveConfig(nodeOptions, { flags: { webhookToken: 17 }, environment: {} });
    expect(resolve).toThrow(/--webhook-token/);
    expect(resolve).not.toThrow(/17/);
  });
});

test("Secrets are masked in the printed configuration.", () => {
  const config = resolveConfig(nodeOptions, { flags: { webhookToken: "s3cret" }, environment: {} });
  expect(maskConfig(nodeOptions, config)).toMatchObject({ webhookToken: "***", httpPort: 4003 });
});

test("Flags and variables are derived from the option's name.", () => {
  expect(toFlag(nodeOptions.httpPort)).toBe("--http-port");
  expect(toVariable(nodeOptions.forgerSecrets)).toBe("UNIKNODE_FORGER_SECRETS");
});

test("Only the dev chain delivers to private addresses by default.", () => {
  expect(resolveConfig(devOptions, none).webhookPrivateTargets).toBe(true);
  expect(resolveConfig(runOptions, none).webhookPrivateTargets).toBe(false);
});

test("Every option has a sentence with a full stop.", () => {
  for (const option of Object.values({ ...devOptions, ...runOptions }))
    expect(option.sentence).toMatch(/\.$/);
});

test("Networks of webhook targets are validated lists.", () => {
  const resolve = (webhookDeny: string) =>
    resolveConfig(runOptions, { flags: { webhookDeny }, environment: {} });
  expect(resolve("10.1.0.0/16, fd00::/8").webhookDeny).toBe("10.1.0.0/16, fd00::/8");
  expect(() => resolve("10.1.0.0/99")).toThrow(
    "--webhook-deny: 10.1.0.0/99 is neither an address nor a network",
  );
});
