/** Receivers that depend on the way in which a request arrives. */
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Delivery } from "@uniknode/client";
import { present } from "../../../src/platform/present.ts";
import { type Headers, type Parts, SOUND } from "../receiver.ts";
import { type Defect, exchange } from "./defect.ts";

export const ARRIVALS: readonly Defect[] = [
  {
    name: "reads the first piece of a body",
    parts: {
      async readBody(request) {
        const [piece] = (await once(request, "data")) as [Buffer];
        return piece;
      },
    },
    fails: ["large-body", "slow-body", "split-character", "concurrent-duplicate"],
  },
  {
    name: "decodes each piece of a body",
    parts: {
      async readBody(request) {
        let text = "";
        for await (const piece of request as AsyncIterable<Buffer>) text += piece.toString();
        return Buffer.from(text);
      },
    },
    fails: ["split-character"],
  },
  {
    name: "compares names of headers with their letter case",
    parts: {
      readHeaders: ({ rawHeaders }) =>
        Object.fromEntries(
          rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [[name, rawHeaders[index + 1]]] : [])),
        ) as Headers,
    },
    fails: ["header-case"],
  },
  {
    name: "leaves a connection unusable after a refusal",
    parts: {
      begin({ socket, memory }) {
        if (memory.notes.has(socket)) socket.destroy();
        return undefined;
      },
      isGenuine(received) {
        const isGenuine = SOUND.isGenuine(received);
        if (!isGenuine) received.memory.notes.set(received.socket, 1);
        return isGenuine;
      },
    },
    fails: ["keep-alive", "valid-after-refused"],
  },
  {
    name: "has one variable for the current delivery",
    parts: withSharedDelivery(),
    fails: ["parallel-calls", "burst"],
  },
  {
    name: "keeps the newest 50 facts",
    parts: {
      handle(delivery, received) {
        SOUND.handle(delivery, received);
        received.disk.facts = received.disk.facts.slice(-50);
      },
    },
    fails: ["burst"],
  },
  {
    name: "stores ids when a request begins",
    parts: {
      begin({ headers, memory }) {
        const id = present(headers["webhook-id"]);
        return exchange(memory, id, 1) === undefined ? undefined : 204;
      },
      isGenuine(received) {
        const isGenuine = SOUND.isGenuine(received);
        if (!isGenuine) received.memory.notes.delete(received.headers["webhook-id"]);
        return isGenuine;
      },
    },
    fails: ["broken-call"],
  },
];

function withSharedDelivery(): Partial<Parts> {
  let current: Delivery | undefined;
  return {
    async handle(delivery, received) {
      current = delivery;
      await sleep(5);
      await SOUND.handle(current, received);
    },
  };
}
