/** Sentences that fill the events and conditions of a webhook. */
import { expect, test } from "vitest";
import { draftOf, queryOf } from "../../src/screens/webhooks/new/draft.ts";
import { missingOf, SENTENCES, selectionFor, sentenceOf } from "../../src/screens/webhooks/new/sentences.ts";

const ADDRESS = "D".repeat(34);
const draftFor = (id: string, value = "") => {
  const sentence = SENTENCES.find((sentence) => sentence.id === id);
  if (!sentence) throw new Error(`no sentence ${id}`);
  return { ...draftOf({ target: "http://a/" }), ...selectionFor(sentence, value) };
};

test.each(SENTENCES.map(({ id }) => [id]))(
  "The sentence %s is found in the draft that it fills, and in its address.",
  (id) => {
    for (const value of ["", ADDRESS, `02${"a".repeat(64)}`]) {
      const draft = draftFor(id, value);
      const hasInput = SENTENCES.some((sentence) => sentence.id === id && sentence.input);
      for (const found of [sentenceOf(draft), sentenceOf(draftOf(queryOf(draft)))]) {
        expect([found?.sentence.id, found?.value]).toEqual([id, hasInput ? value : ""]);
      }
    }
  },
);

test("Payments to an address are transactions with it as the recipient.", () => {
  const { events, conditions } = draftFor("payments", ADDRESS);
  expect({ events, conditions }).toEqual({
    events: ["transaction.applied"],
    conditions: [{ key: "recipientId", condition: "eq", value: ADDRESS }],
  });
});

test("A delegate is found by its name or its public key.", () => {
  const keyOf = (value: string) => draftFor("missed", value).conditions[0]?.key;
  expect(keyOf("genesis_1")).toBe("delegate.username");
  expect(keyOf(`02${"a".repeat(64)}`)).toBe("delegate.publicKey");
});

test("Other events or conditions are no sentence.", () => {
  expect(sentenceOf(draftOf({ events: "transaction.*" }))).toBeUndefined();
  const draft = draftFor("payments", ADDRESS);
  expect(sentenceOf({ ...draft, conditions: [...draft.conditions, ...draft.conditions] })).toBeUndefined();
});

test("An incomplete draft asks for the first thing that it lacks.", () => {
  expect(missingOf(draftOf({}))).toBe("Enter the URL of your receiver.");
  expect(missingOf(draftOf({ target: "http://a/" }))).toBe("Choose what to receive.");
  expect(missingOf(draftFor("payments"))).toBe("Enter the address.");
  expect(missingOf(draftFor("payments", "D12"))).toBe("Enter the address.");
  expect(missingOf(draftFor("payments", ADDRESS))).toBeUndefined();
  expect(missingOf(draftFor("blocks"))).toBeUndefined();
});
