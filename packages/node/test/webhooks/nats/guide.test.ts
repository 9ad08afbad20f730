/** The files and the URL that docs/guides/nats.md shows, on a real server. */

import { verifyDelivery } from "@uniknode/client";
import { expect, onTestFinished, test } from "vitest";
import { present } from "../../../src/platform/present.ts";
import { Signer } from "../../../src/webhooks/model/message.ts";
import { blocksOf } from "../../../test-support/guides/page.ts";
import { missingForNats, startNatsServer } from "../../../test-support/nats/server.ts";
import { skips } from "../../../test-support/process/available.ts";
import { createSender } from "./support.ts";

const isSkipped = skips(missingForNats());
const blocks = blocksOf("docs/guides/nats.md");
const textOf = (language: string) =>
  present(blocks.find((block) => block.language === language)?.text, `a block of ${language}`);

test.skipIf(isSkipped)("The configuration and the stream of the guide work.", async () => {
  const server = await startNatsServer({
    password: "change this too",
    configOf: (port, folder) =>
      textOf("text")
        .replace("127.0.0.1:4222", `127.0.0.1:${port}`)
        .replace("/var/lib/nats", folder)
        // Debian's server is older than this line.
        .replace(/^ *sync_interval: always\n/m, ""),
  });
  onTestFinished(server.remove);
  const admin = await server.admin();
  onTestFinished(admin.close);
  await admin.createFrom(textOf("json"));
  const [url = ""] = /nats:\S+(?=")/.exec(textOf("sh")) ?? [];
  const target = url.replace(":4222", `:${server.port}`);

  const { send } = createSender();
  const body = '{"timestamp":1,"event":"block.applied","id":"msg_1","webhookId":1}';
  const token = "ab".repeat(32);
  const headers = new Signer().headersOf({ id: "msg_1", body, secrets: { token } }, 1_700_000_000_000);
  await send("msg_1", target, { isStrict: true, body, headers });
  await send("msg_2", target, { isStrict: true });
  const [message] = await admin.messages("CHAIN", "chain.blocks");
  const stored = present(message);
  const options = { secret: token, toleranceMs: Number.POSITIVE_INFINITY };
  expect(await verifyDelivery(stored, options)).toMatchObject({ id: "msg_1", event: "block.applied" });
  await expect(send("msg_3", target.replace("chain.blocks", "other"))).rejects.toMatchObject({
    code: "NATS_PERMISSION",
  });
});
