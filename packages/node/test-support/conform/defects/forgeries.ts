/** Receivers that accept what the node did not sign, or refuse what it signed. */
import type { Delivery } from "@uniknode/client";
import { isInTime, isSignature, isSigned, type Received, SOUND, signaturesOf } from "../receiver.ts";
import { type Defect, exchange, unless } from "./defect.ts";

export const FORGERIES: readonly Defect[] = [
  {
    name: "does not verify the signature",
    parts: { isGenuine: (received) => isInTime(received) && signaturesOf(received)[0] !== "" },
    fails: [
      "keep-alive",
      "bad-signature",
      "changed-body",
      "changed-id",
      "changed-timestamp",
      "valid-after-refused",
    ],
  },
  {
    name: "accepts the first half of the token",
    parts: {
      isGenuine: (received) => signaturesOf(received)[0] === "" || SOUND.isGenuine(received),
    },
    fails: ["missing-signature"],
  },
  {
    name: "verifies a body that was parsed and serialised",
    parts: {
      isGenuine(received) {
        const body = Buffer.from(JSON.stringify(JSON.parse(received.body.toString())));
        return isInTime(received) && isSigned({ ...received, body });
      },
    },
    fails: ["changed-body"],
  },
  {
    name: "verifies the id of the body",
    parts: {
      isGenuine(received) {
        const { id } = JSON.parse(received.body.toString()) as Delivery;
        return isInTime(received) && signaturesOf(received).some((given) => isSignature(given, id, received));
      },
    },
    fails: ["changed-id"],
  },
  {
    name: "accepts old signatures",
    parts: {
      isGenuine: (received) =>
        Number(received.headers["webhook-timestamp"]) - Date.now() / 1_000 < 300 && isSigned(received),
    },
    fails: ["old-timestamp"],
  },
  {
    name: "accepts signatures of the future",
    parts: {
      isGenuine: (received) =>
        Date.now() / 1_000 - Number(received.headers["webhook-timestamp"]) < 300 && isSigned(received),
    },
    fails: ["future-timestamp"],
  },
  {
    name: "stores ids before the verification",
    parts: {
      isGenuine(received) {
        exchange(
          received.disk,
          received.headers["webhook-id"],
          (received.disk.notes.get(received.headers["webhook-id"]) ?? 0) + 1,
        );
        return SOUND.isGenuine(received);
      },
      handle: unless(({ id, reverts }, { disk }) => reverts === undefined && (disk.notes.get(id) ?? 0) > 1),
    },
    fails: ["valid-after-refused"],
  },
  ...(["old", "new"] as const).map((missed) => ({
    name: `verifies only the ${missed === "old" ? "first" : "last"} signature`,
    parts: {
      isGenuine: (received: Received) =>
        isInTime(received) &&
        isSignature(
          signaturesOf(received).at(missed === "old" ? 0 : -1),
          received.headers["webhook-id"],
          received,
        ),
    },
    fails: [`rotation-${missed}-secret`],
  })),
];
