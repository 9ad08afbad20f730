import { EVERY_EVENT } from "@uniknode/client";
import { describe, expect, test } from "vitest";
import { changesOf, draftOfWebhook } from "../../src/screens/webhooks/edit/changes.ts";
import {
  draftOf,
  fieldOf,
  membersOf,
  operatorsFor,
  queryOf,
  registrationOf,
} from "../../src/screens/webhooks/new/draft.ts";
import { formsOf } from "../../src/screens/webhooks/new/forms.ts";

describe("An edited webhook", () => {
  const webhook = { id: 1, event: "block.applied", target: "http://a/", enabled: true, conditions: [] };
  const before = draftOfWebhook(webhook);

  test("Without a change nothing is sent.", () => {
    expect(changesOf(before, { ...before })).toEqual({});
  });

  test("The condition for every event is shown as no condition, and replaces conditions that are removed.", () => {
    const filtered = { ...webhook, conditions: [{ key: "height", condition: "gt", value: 3 } as const] };
    expect(draftOfWebhook({ ...webhook, conditions: [EVERY_EVENT] }).conditions).toEqual([]);
    expect(changesOf(draftOfWebhook(filtered), { ...before })).toEqual({ conditions: [EVERY_EVENT] });
  });

  test("Patterns replace the event, which would otherwise still match.", () => {
    expect(changesOf(before, { ...before, events: ["transaction.*"] })).toEqual({
      event: null,
      events: ["transaction.*"],
    });
  });
});

describe("A draft of a webhook", () => {
  const full = draftOf({
    events: "block.applied, transaction.*",
    conditions:
      '[{"key":"amount","condition":"gte","value":"5"},{"key":"open","condition":"truthy","value":""}]',
    match: "all",
    target: " https://receiver.example/ ",
    order: "strict",
    confirmations: "3",
    proof: "yes",
  });

  test("Its address contains everything, and is empty for the defaults.", () => {
    expect(draftOf(queryOf(full))).toEqual(full);
    expect(Object.values(queryOf(draftOf({}))).join("")).toBe("");
  });

  test.each([
    { conditions: "{" },
    { conditions: "7" },
    { conditions: '[{"key":7,"condition":"eq"},{"key":"a","condition":"burns"},null]' },
    { confirmations: "-1", match: "some", order: "none" },
  ])("Invalid parts of %j are omitted.", (query) => {
    expect(draftOf(query as unknown as Record<string, string>)).toEqual(draftOf({}));
  });

  test("Values that are not text are kept as text.", () => {
    const conditions = '[{"key":"height","condition":"between","value":{"min":1,"max":2}}]';
    expect(draftOf({ conditions }).conditions[0]?.value).toBe('{"min":1,"max":2}');
  });

  test("It becomes a minimal registration.", () => {
    expect(registrationOf(draftOf({ events: "block.applied", target: "http://a/" }))).toEqual({
      event: "block.applied",
      target: "http://a/",
      conditions: [EVERY_EVENT],
    });
    expect(registrationOf(full)).toEqual({
      events: ["block.applied", "transaction.*"],
      target: "https://receiver.example/",
      conditions: [
        { key: "amount", condition: "gte", value: "5" },
        { key: "open", condition: "truthy" },
      ],
      match: "all",
      order: "strict",
      confirmations: 3,
      proof: true,
    });
  });

  test("A condition without a member is incomplete, and not sent.", () => {
    const conditions = '[{"key":"","condition":"eq","value":"1"}]';
    expect(registrationOf(draftOf({ events: "*", conditions, match: "all" })).conditions).toEqual([
      EVERY_EVENT,
    ]);
  });

  test("Its command has the options of the command line, quoted.", () => {
    const [, , command] = formsOf(draftOf({ ...queryOf(full), target: "http://a/'b" }), "http://node");
    expect(command?.text).toBe(
      `uniknode webhooks create 'http://a/'\\''b' --event 'block.applied' --event 'transaction.*' --condition 'amount gte 5' --condition 'open truthy' --match all --order strict --confirmations 3 --proof`,
    );
  });
});

test("A content has the members that a condition can name, with their values.", () => {
  const content = { id: "a", fee: "1", asset: { nft: { unik: { tokenId: "b" } } }, list: [{ a: 1 }] };
  expect(membersOf(content)).toEqual([
    ["id", "a"],
    ["fee", "1"],
    ["asset.nft.unik.tokenId", "b"],
    ["list", [{ a: 1 }]],
  ]);
  expect(membersOf([{ id: 1 }])).toEqual([["id", 1]]);
  expect(membersOf(undefined)).toEqual([]);
});

test.each([
  ["12", ["eq", "ne", "gt", "gte", "lt", "lte", "between", "not-between"]],
  ["a name", ["eq", "ne", "contains", "regexp"]],
  [true, ["eq", "truthy", "falsy"]],
  [[1], ["eq", "contains"]],
])(
  "A member with a value like %j has the operators of its type, and the chosen one.",
  (example, expected) => {
    expect(operatorsFor(example, "eq").map(([operator]) => operator)).toEqual(expected);
  },
);

test("A member that no event shows has all operators.", () => {
  expect(operatorsFor(undefined, "eq")).toHaveLength(12);
});

test.each([
  ['"target" must be an https or tls URL on this node', "target"],
  ['the pattern of the condition on "id" is invalid', "conditions"],
  ['"evnet" is no event; did you mean block.applied?', "events"],
  ["the register is full", undefined],
])("The refusal %j belongs to the field %s.", (message, field) => {
  expect(fieldOf(message)).toBe(field);
});
