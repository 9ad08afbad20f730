/** Scenarios of single deliveries: their contents, their sizes, and the way in which the requests arrive. */
import type { Parts } from "../requests.ts";
import type { Scenario } from "../stage.ts";

const VERIFY = "docs/guides/webhooks.md#verify";
const RECEIVE = "docs/guides/webhooks.md#receive";
const GUARANTEES = "docs/guides/webhooks.md#guarantees";

const PAYMENT = "transaction.applied";
/** Text in which characters have one, two, three and four bytes. */
const TEXT = "Rent for May: 1 000 € · 家賃 🏠";
/** Size of the content that is added to a fact. The largest content has 256 KiB. */
const LARGE = 254 * 1_024;
const OVERSIZE = 300 * 1_024;
const PIECES = 10;
const PARALLEL_CALLS = 8;
const BURST = 96;

/** Splits a body after the first byte of the character with four bytes. */
const splitInCharacter = (body: Buffer): Buffer[] => {
  const at = body.indexOf(Buffer.from("🏠")) + 1;
  return [body.subarray(0, at), body.subarray(at)];
};

const splitEvenly = (body: Buffer): Buffer[] => {
  const size = Math.ceil(body.length / PIECES);
  return Array.from({ length: PIECES }, (_, index) => body.subarray(index * size, (index + 1) * size));
};

const titleCase = (name: string): string =>
  name.replaceAll(/(?<=^|-)[a-z]/g, (letter) => letter.toUpperCase());

const CONTENTS: readonly Scenario[] = [
  {
    name: "one-fact",
    rule: "A signed delivery is accepted, and its fact takes effect with its event, height and block.",
    change:
      "verify the signature over the raw body with the secret of this webhook, and show the fact at the probe",
    section: RECEIVE,
    async play(stage) {
      const one = stage.fact();
      await stage.deliver(one);
      return [one];
    },
  },
  {
    name: "ping",
    rule: "A ping, which has neither a sequence nor a block, is accepted.",
    change: "accept deliveries without sequence, height and blockId",
    section: "docs/guides/webhooks.md#additional-members",
    async play(stage, messages) {
      await stage.deliver(messages.ping());
      return [];
    },
  },
  {
    name: "unknown-event",
    rule: "An event that the receiver does not know is accepted; a refused one would be sent again for two days.",
    change: "respond with 2xx to events that you do not handle",
    section: GUARANTEES,
    async play(stage, messages) {
      const unknown = messages.other("block.certified", { certificate: "later version" }, messages.place());
      const one = stage.fact();
      await stage.deliver(unknown, one);
      return [one];
    },
  },
  {
    name: "unknown-member",
    rule: "A member that the receiver does not know does not change the meaning of a delivery.",
    change: "ignore members of the body and of its data that you do not know",
    section: RECEIVE,
    async play(stage) {
      const one = stage.fact({ data: { certificate: { round: 7 } } });
      const later = { ...one, content: { ...one.content, certified: true } };
      await stage.deliver(later);
      return [later];
    },
  },
  {
    name: "unknown-header",
    rule: "A header that the receiver does not know does not change the meaning of a delivery.",
    change: "ignore headers that you do not know, also if they begin with webhook-",
    section: RECEIVE,
    async play(stage) {
      const one = stage.fact();
      const alter = ({ headers, body }: Parts) => ({
        headers: { ...headers, "webhook-later": "1" },
        body,
      });
      await stage.deliverAs(one, { alter });
      return [one];
    },
  },
  {
    name: "event-without-data",
    rule: "An event without content, which has no data, is accepted.",
    change: "accept deliveries without data, such as round.applied",
    section: "docs/reference/events.md#roundapplied",
    async play(stage, messages) {
      await stage.deliver(messages.other("round.applied", undefined, messages.place()));
      return [];
    },
  },
  {
    name: "event-outside-blocks",
    rule: "An event that is not a fact of a block, and whose data is a list, is accepted.",
    change: "accept deliveries without height and blockId, and data that is not an object",
    section: "docs/reference/events.md#transactionpooladded",
    async play(stage, messages) {
      await stage.deliver(messages.other("transaction.pool.added", [{ id: "00", amount: "1", fee: "1" }]));
      return [];
    },
  },
  {
    name: "truncated-content",
    rule: "A delivery whose content was too large takes effect: its data has only the members that identify it.",
    change: "use id, event, height and blockId of the message, and read the complete content from link",
    section: RECEIVE,
    async play(stage) {
      const one = stage.fact({ event: PAYMENT, data: { asset: { text: "x".repeat(OVERSIZE) } } });
      await stage.deliver(one);
      return [one];
    },
  },
  {
    name: "large-body",
    rule: "A content of 256 KiB is accepted.",
    change: "raise the limit of your server or framework for bodies to 1 MiB",
    section: RECEIVE,
    async play(stage) {
      const one = stage.fact({ event: PAYMENT, data: { asset: { text: "x".repeat(LARGE) } } });
      await stage.deliver(one);
      return [one];
    },
  },
  {
    name: "non-ascii-text",
    rule: "Text beyond ASCII does not change the result of the verification.",
    change: "compute the signature over the bytes of the body, not over text in another encoding",
    section: VERIFY,
    async play(stage) {
      const one = stage.fact({ event: PAYMENT, data: { vendorField: TEXT } });
      await stage.deliver(one);
      return [one];
    },
  },
];

const ARRIVALS: readonly Scenario[] = [
  {
    name: "slow-body",
    rule: "A body that arrives in pieces, with pauses, is accepted.",
    change: "read the request to the end of its content-length, and wait 10 s for it",
    section: GUARANTEES,
    async play(stage) {
      const one = stage.fact();
      await stage.deliverPieces(one, splitEvenly);
      return [one];
    },
  },
  {
    name: "split-character",
    rule: "A piece of the body can end within a character.",
    change: "collect the bytes of the body, and decode them together",
    section: VERIFY,
    async play(stage) {
      const one = stage.fact({ event: PAYMENT, data: { vendorField: TEXT } });
      await stage.deliverPieces(one, splitInCharacter);
      return [one];
    },
  },
  {
    name: "header-case",
    rule: "Names of headers can have any letter case, because proxies change it.",
    change: "compare names of headers without their letter case",
    section: VERIFY,
    async play(stage) {
      const one = stage.fact();
      await stage.deliverAs(one, {
        alter: ({ headers, body }) => ({
          headers: Object.fromEntries(
            Object.entries(headers).map(([name, value]) => [titleCase(name), value]),
          ),
          body,
        }),
      });
      return [one];
    },
  },
  {
    name: "keep-alive",
    rule: "A connection works for the next delivery after a refused one.",
    change: "read the body of every request to its end, also if you refuse it",
    section: GUARANTEES,
    async play(stage, messages) {
      const one = stage.fact();
      const refused = messages.other("block.certified", { text: "refused" });
      await stage.refuseAs(refused, { secrets: { token: "f".repeat(64) } });
      await stage.deliver(one);
      return [one];
    },
  },
  {
    name: "parallel-calls",
    rule: "Eight deliveries at the same time all take effect.",
    change:
      'keep the state of each request apart from the others, or register the webhook with "order": "strict"',
    section: GUARANTEES,
    async play(stage) {
      const facts = Array.from({ length: PARALLEL_CALLS }, () => stage.fact());
      await stage.deliverTogether(facts);
      return facts;
    },
  },
  {
    name: "burst",
    rule: "The deliveries of many blocks all take effect, eight at a time.",
    change: "store every fact before you respond, and respond within the timeout of the node, 10 s",
    section: GUARANTEES,
    async play(stage) {
      const facts = Array.from({ length: BURST }, () => stage.fact());
      for (let from = 0; from < BURST; from += PARALLEL_CALLS) {
        await stage.deliverTogether(facts.slice(from, from + PARALLEL_CALLS));
      }
      return facts;
    },
  },
  {
    name: "broken-call",
    rule: "A call that ends within its body has no effect, and the next attempt has.",
    change: "handle a delivery only after its whole body was verified",
    section: GUARANTEES,
    async play(stage) {
      const one = stage.fact();
      await stage.breakOff(one);
      await stage.deliver(one);
      return [one];
    },
  },
];

export const ACCEPTANCE: readonly Scenario[] = [...CONTENTS, ...ARRIVALS];
