/** The end of an API server while it serves a request to the webhooks of delivery workers. */
import pino from "pino";
import { describe, expect, onTestFinished, test } from "vitest";
import { serveOptions } from "../../src/config/mirror.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import { Closing } from "../../src/platform/lifecycle/closing.ts";
import { migrate } from "../../src/postgres/migrations.ts";
import { buildServeWebhooks } from "../../src/processes/serve/webhooks.ts";
import { network } from "../../test-support/peers/chains.ts";
import { useDatabases } from "../../test-support/postgres/databases.ts";
import { connect, hasPostgres } from "../../test-support/postgres/server.ts";
import { startHeldReceiver } from "../../test-support/webhooks/held-receiver.ts";
import { ownByWorkers } from "../../test-support/webhooks/postgres-rows.ts";

const logger = pino({ level: "silent" });

describe.runIf(hasPostgres)("an API server that stops", () => {
  const databases = useDatabases();

  test("An API server that stops completes a ping that is in progress.", async () => {
    const databaseUrl = await databases.create();
    const postgres = connect(databaseUrl);
    onTestFinished(() => postgres.close());
    await migrate(postgres);
    await ownByWorkers(postgres);
    const receiver = await startHeldReceiver();
    onTestFinished(() => receiver.close());
    receiver.hold();
    const closing = new Closing();
    const flags = { node: "http://127.0.0.1:1", webhookPrivateTargets: true };
    const { requests } = buildServeWebhooks(resolveConfig(serveOptions, { flags, environment: {} }), {
      ...{ databaseUrl, token: "a token of the test", network, closing, logger },
    });
    const ping = requests.pingTarget({ target: receiver.url });
    // The HTTP server waits for its requests.
    closing.add("http", async () => void (await ping));
    await expect.poll(() => receiver.calls).toHaveLength(1);
    const closed = closing.closeAll(logger);
    receiver.release();
    expect(await ping).toMatchObject({ status: 204 });
    await closed;
  });
});
