/** Scenarios of requests that do not come from the node, are too old, or are signed during a rotation. */
import { randomBytes } from "node:crypto";
import type { Parts } from "../requests.ts";
import type { Scenario } from "../stage.ts";

const VERIFY = "docs/guides/webhooks.md#verify";
const ROTATE = "docs/guides/webhooks.md#rotate-the-secret";

const TEN_MINUTES_MS = 600_000;
const HOUR_MS = 3_600_000;
const VERIFY_ALL =
  "verify the signature over webhook-id, webhook-timestamp and the raw body, joined with dots";
const REFUSE_AGE =
  "refuse requests whose webhook-timestamp differs from your clock by more than five minutes";

const otherToken = (): string => randomBytes(32).toString("hex");

const withHeaders =
  (change: (headers: Parts["headers"]) => Record<string, string>) =>
  ({ headers, body }: Parts): Parts => ({ headers: { ...headers, ...change(headers) }, body });

const FORGERIES: readonly Scenario[] = [
  {
    name: "bad-signature",
    rule: "A request that is signed with another secret is refused.",
    change: VERIFY_ALL,
    section: VERIFY,
    async play(stage) {
      await stage.refuseAs(stage.fact(), { secrets: { token: otherToken() } });
      return [];
    },
  },
  {
    name: "missing-signature",
    rule: "A request without a signature is refused, even if its Authorization header is right.",
    change: "require webhook-signature: the Authorization header does not protect the content",
    section: VERIFY,
    async play(stage) {
      await stage.refuseAs(stage.fact(), {
        alter: ({ headers, body }) => ({
          headers: Object.fromEntries(
            Object.entries(headers).filter(([name]) => name !== "webhook-signature"),
          ),
          body,
        }),
      });
      return [];
    },
  },
  {
    name: "changed-body",
    rule: "A request whose body was changed after signing is refused.",
    change: VERIFY_ALL,
    section: VERIFY,
    async play(stage) {
      const alter = ({ headers, body }: Parts) => ({
        headers,
        body: body.replace('"webhookId":', '"webhookId": '),
      });
      await stage.refuseAs(stage.fact(), { alter });
      return [];
    },
  },
  {
    name: "changed-id",
    rule: "A request whose webhook-id was changed after signing is refused.",
    change: VERIFY_ALL,
    section: VERIFY,
    async play(stage) {
      const [one, otherId] = [stage.fact(), stage.fact().id];
      await stage.deliver(one);
      await stage.refuseAs(one, { alter: withHeaders(() => ({ "webhook-id": otherId })) });
      return [one];
    },
  },
  {
    name: "changed-timestamp",
    rule: "A request whose webhook-timestamp was changed after signing is refused.",
    change: VERIFY_ALL,
    section: VERIFY,
    async play(stage) {
      const seconds = () => `${Math.floor(Date.now() / 1_000)}`;
      const alter = withHeaders(() => ({ "webhook-timestamp": seconds() }));
      await stage.refuseAs(stage.fact(), { ageMs: TEN_MINUTES_MS, alter });
      return [];
    },
  },
  {
    name: "old-timestamp",
    rule: "A request that was signed ten minutes ago is refused.",
    change: REFUSE_AGE,
    section: VERIFY,
    async play(stage) {
      await stage.refuseAs(stage.fact(), { ageMs: TEN_MINUTES_MS });
      return [];
    },
  },
  {
    name: "future-timestamp",
    rule: "A request that was signed ten minutes in the future is refused.",
    change: REFUSE_AGE,
    section: VERIFY,
    async play(stage) {
      await stage.refuseAs(stage.fact(), { ageMs: -TEN_MINUTES_MS });
      return [];
    },
  },
  {
    name: "valid-after-refused",
    rule: "A valid delivery takes effect after a forged one with the same id was refused.",
    change: "store the id of a delivery only after its verification",
    section: VERIFY,
    async play(stage) {
      const one = stage.fact();
      await stage.refuseAs(one, { secrets: { token: otherToken() } });
      await stage.deliver(one);
      return [one];
    },
  },
];

const ROTATION: readonly Scenario[] = [
  {
    name: "rotation-old-secret",
    rule: "During a rotation, a receiver that still has the old secret accepts the second of two signatures.",
    change: "split webhook-signature at spaces, and accept a request if one of the signatures is valid",
    section: ROTATE,
    async play(stage) {
      const one = stage.fact();
      const previous = { token: stage.token, untilMs: Date.now() + HOUR_MS };
      await stage.deliverAs(one, { secrets: { token: otherToken(), previous } });
      return [one];
    },
  },
  {
    name: "rotation-new-secret",
    rule: "During a rotation, a receiver that already has the new secret accepts the first of two signatures.",
    change: "split webhook-signature at spaces, and accept a request if one of the signatures is valid",
    section: ROTATE,
    async play(stage) {
      const one = stage.fact();
      const previous = { token: otherToken(), untilMs: Date.now() + HOUR_MS };
      await stage.deliverAs(one, { secrets: { token: stage.token, previous } });
      return [one];
    },
  },
];

export const VERIFICATION: readonly Scenario[] = [...FORGERIES, ...ROTATION];
