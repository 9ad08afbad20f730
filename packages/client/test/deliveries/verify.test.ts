import { readFileSync } from "node:fs";
import { runInNewContext } from "node:vm";
import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { DeliveryError, type VerifyOptions, verifyDelivery } from "../../src/index.ts";

const TOKEN = "fe944e318edb02b979d6bf0c87978b640c8e74e1cbfe36404386d33a5bbd8b66";
const OTHER = "00".repeat(32);
const whsec = (token: string) => `whsec_${Buffer.from(token, "hex").toString("base64")}`;

const NOW_MS = 1_795_223_920_000;
const nowMs = () => NOW_MS;
const DELIVERY = {
  timestamp: NOW_MS,
  data: { amount: "12", vendorField: "œuvre" },
  event: "transaction.applied",
  id: "msg_1",
  webhookId: 1,
  height: 9,
  blockId: "ab".repeat(32),
};
const BODY = JSON.stringify(DELIVERY);

/** Delivery signed by the published library of the specification. */
function signed(body = BODY, tokens = [TOKEN], atMs = NOW_MS) {
  const sign = (token: string) => new Webhook(whsec(token)).sign("msg_1", new Date(atMs), body);
  return {
    "webhook-id": "msg_1",
    "webhook-timestamp": `${Math.floor(atMs / 1_000)}`,
    "webhook-signature": tokens.map(sign).join(" "),
    authorization: TOKEN.slice(0, 32),
  };
}

const verify = (headers: Record<string, string>, options: Partial<VerifyOptions> = {}, body = BODY) =>
  verifyDelivery({ headers, body }, { secret: TOKEN, nowMs, ...options });

/** Message of the refusal. */
async function refusal(attempt: Promise<unknown>) {
  const error = await attempt.catch((error: unknown) => error);
  if (!(error instanceof DeliveryError)) throw error;
  expect(error.code).toBe(error.type.code);
  return error.type;
}

describe("a signed delivery", () => {
  test("A signed delivery verifies with the token, with its whsec form, and with one of several.", async () => {
    for (const secret of [TOKEN, TOKEN.toUpperCase(), whsec(TOKEN), [OTHER, TOKEN], [whsec(OTHER), TOKEN]]) {
      expect(await verify(signed(), { secret })).toEqual(DELIVERY);
    }
  });

  test("A signed delivery verifies by any of the signatures in the header, regardless of its other contents.", async () => {
    expect(await verify(signed(BODY, [OTHER, TOKEN]))).toEqual(DELIVERY);
    expect(await verify(signed(BODY, [TOKEN, OTHER]))).toEqual(DELIVERY);
    const headers = signed();
    headers["webhook-signature"] = `v1a,AAAA v1,%%% v1, nonsense ${headers["webhook-signature"]}`;
    expect(await verify(headers)).toEqual(DELIVERY);
  });

  test("A signed delivery can have its body as text, bytes or a buffer, and its headers in every usual form.", async () => {
    const bytes = new TextEncoder().encode(BODY);
    for (const body of [BODY, bytes, Buffer.from(BODY), bytes.buffer]) {
      expect(await verifyDelivery({ headers: signed(), body }, { secret: TOKEN, nowMs })).toEqual(DELIVERY);
    }
    const upper = Object.fromEntries(
      Object.entries(signed()).map(([name, value]) => [name.toUpperCase(), value]),
    );
    const lists = Object.fromEntries(Object.entries(signed()).map(([name, value]) => [name, [value]]));
    for (const headers of [
      new Headers(signed()),
      upper,
      lists,
      new Request("http://a", { headers: signed() }).headers,
    ]) {
      expect(await verifyDelivery({ headers, body: BODY }, { secret: TOKEN, nowMs })).toEqual(DELIVERY);
    }
  });

  test.each([
    ["7", 7],
    ["0", 0],
    ["", undefined],
    ["-1", undefined],
    ["1.5", undefined],
    ["9".repeat(16), undefined],
  ])("A signed delivery with the headers %j has the sequence and epoch %s.", async (header, value) => {
    const headers = { ...signed(), "webhook-sequence": header, "webhook-epoch": header };
    const position = value === undefined ? {} : { sequence: value, epoch: value };
    for (const scheme of ["signature", "authorization"] as const)
      expect(await verify(headers, { scheme })).toEqual({ ...DELIVERY, ...position });
  });

  test("A signed delivery is refused with another secret, body, id or time.", async () => {
    const wrong = { code: "DELIVERY_SIGNATURE_WRONG" };
    expect(await refusal(verify(signed(), { secret: OTHER }))).toEqual(wrong);
    expect(await refusal(verify(signed(), {}, `${BODY} `))).toEqual(wrong);
    expect(await refusal(verify({ ...signed(), "webhook-id": "msg_2" }))).toEqual(wrong);
    const timestamp = `${NOW_MS / 1_000 + 1}`;
    expect(await refusal(verify({ ...signed(), "webhook-timestamp": timestamp }))).toEqual(wrong);
    for (const signature of ["", "v1,", "v1,AAAA", signed()["webhook-signature"].slice(0, -5)]) {
      expect(await refusal(verify({ ...signed(), "webhook-signature": signature }))).toEqual(wrong);
    }
  });

  test.each([
    [-300_001, "DELIVERY_TOO_OLD", undefined],
    [-300_000, undefined, undefined],
    [300_000, undefined, undefined],
    [301_000, "DELIVERY_TOO_NEW", undefined],
    [-1_000, "DELIVERY_TOO_OLD", 999],
    [-1_000, undefined, 1_000],
  ])(
    "A delivery signed %i ms from now has the verdict %s with a tolerance of %s.",
    async (fromNowMs, code, toleranceMs) => {
      const options = toleranceMs === undefined ? {} : { toleranceMs };
      const attempt = verify(signed(BODY, [TOKEN], NOW_MS + fromNowMs), options);
      if (!code) return expect(await attempt).toEqual(DELIVERY);
      expect(await refusal(attempt)).toMatchObject({ code, toleranceMs: toleranceMs ?? 300_000 });
    },
  );

  test("A signed delivery is refused for its age only if the signature is valid.", async () => {
    const attempt = verify(signed(BODY, [OTHER], NOW_MS - 86_400_000));
    expect(await refusal(attempt)).toEqual({ code: "DELIVERY_SIGNATURE_WRONG" });
  });

  test.each(["webhook-id", "webhook-timestamp", "webhook-signature"])(
    "A signed delivery without %s is refused.",
    async (header) => {
      const headers: Record<string, string> = signed();
      delete headers[header];
      expect(await refusal(verify(headers))).toEqual({ code: "DELIVERY_HEADER_MISSING", header });
    },
  );

  test.each(["", "1e9", "-1", "1795223920.5", "soon"])(
    "A signed delivery at the time %j is refused.",
    async (timestamp) => {
      expect(await refusal(verify({ ...signed(), "webhook-timestamp": timestamp }))).toEqual({
        code: "DELIVERY_TIMESTAMP_INVALID",
        timestamp,
      });
    },
  );

  test.each([
    ["body", "no JSON"],
    ["body", "null"],
    ["id", JSON.stringify({ ...DELIVERY, id: 1 })],
    ["event", JSON.stringify({ ...DELIVERY, event: undefined })],
    ["height", JSON.stringify({ ...DELIVERY, height: "9" })],
  ])("A signed delivery is refused if its %s is not that of a delivery.", async (field, body) => {
    expect(await refusal(verify(signed(body), {}, body))).toEqual({ code: "DELIVERY_BODY_INVALID", field });
  });

  test("A signed delivery can have members that this version does not know.", async () => {
    const body = JSON.stringify({ ...DELIVERY, more: [1] });
    expect(await verify(signed(body), {}, body)).toEqual({ ...DELIVERY, more: [1] });
  });
});

describe("the half of the secret in Authorization", () => {
  const scheme = "authorization";

  test("The half of the secret authenticates a delivery for receivers that require no more.", async () => {
    const headers = { authorization: TOKEN.slice(0, 32) };
    expect(await verify(headers, { scheme })).toEqual(DELIVERY);
    expect(await verify(headers, { scheme, secret: whsec(TOKEN) })).toEqual(DELIVERY);
    expect(await verify(headers, { scheme, secret: [OTHER, TOKEN] })).toEqual(DELIVERY);
  });

  test("The half of the secret is refused if it is another, longer, shorter, or missing.", async () => {
    const half = TOKEN.slice(0, 32);
    for (const authorization of [
      "",
      half.slice(1),
      `${half}0`,
      TOKEN,
      `Bearer ${half}`,
      `f${half.slice(1, 31)}0`,
    ]) {
      expect(await refusal(verify({ authorization }, { scheme }))).toEqual({
        code: "DELIVERY_AUTHORIZATION_WRONG",
      });
    }
    expect(await refusal(verify({}, { scheme }))).toEqual({
      code: "DELIVERY_HEADER_MISSING",
      header: "authorization",
    });
  });

  test("The half of the secret does not authenticate unless requested.", async () => {
    expect(await refusal(verify({ authorization: TOKEN.slice(0, 32) }))).toMatchObject({
      code: "DELIVERY_HEADER_MISSING",
    });
  });
});

test.each(["new Uint8Array(bytes)", "new Uint8Array(bytes).buffer"])(
  "A body of another realm is accepted: %s.",
  async (code) => {
    const body = runInNewContext(code, { bytes: [...Buffer.from(BODY)] }) as Uint8Array;
    expect(await verifyDelivery({ headers: signed(), body }, { secret: TOKEN, nowMs })).toEqual(DELIVERY);
  },
);

describe("an invalid call of a receiver throws a TypeError", () => {
  test.each(["", "secret", TOKEN.slice(1), `${TOKEN}00`, "whsec_", "whsec_AAAA", "whsec_*", undefined])(
    "A receiver with the secret %j throws a TypeError.",
    async (secret) => {
      const attempt = verify(signed(), { secret: secret as string });
      await expect(attempt).rejects.toThrow(TypeError);
      await expect(attempt).rejects.toThrow(/64 hexadecimal digits/);
      await expect(attempt).rejects.toMatchObject({ code: "API_ARGUMENT", isRetryable: false });
    },
  );

  test("A receiver with a parsed body throws a TypeError.", async () => {
    const body = DELIVERY as unknown as string;
    const attempt = verifyDelivery({ headers: signed(), body }, { secret: TOKEN, nowMs });
    await expect(attempt).rejects.toThrow(/verify first, parse afterwards/);
    await expect(attempt).rejects.toMatchObject({ code: "API_ARGUMENT", isRetryable: false });
  });
});

test("The package has no dependencies, and uses nothing of one platform.", () => {
  const { dependencies } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  expect(dependencies).toBeUndefined();
});
