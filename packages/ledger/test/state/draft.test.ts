import { createDraft, createMemoryState, type MemoryState, TABLE_NAMES, type Wallet } from "@uniknode/ledger";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

const wallet = (address: string, attributes: Wallet["attributes"] = {}, balance = 0n): Wallet => ({
  address,
  balance,
  nonce: 0n,
  attributes,
});

/** Every record of a state, in an order that does not depend on the order of writing. */
const contentOf = (state: MemoryState) =>
  TABLE_NAMES.map((table) => [table, state.entries(table).sort(([a], [b]) => (a < b ? -1 : 1))]);

type Action =
  | { kind: "set"; key: string; value: string | undefined }
  | { kind: "mark" }
  | { kind: "rollback" };

const actions = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant("set" as const),
        key: fc.constantFrom("a", "b", "c", "d"),
        value: fc.option(fc.string({ maxLength: 3 }), { nil: undefined }),
      }),
    },
    { weight: 2, arbitrary: fc.constant({ kind: "mark" as const }) },
    { weight: 1, arbitrary: fc.constant({ kind: "rollback" as const }) },
  ) as fc.Arbitrary<Action>,
  { maxLength: 40 },
);

/** Committed state with some of the keys. */
function stateWith(usernames: Readonly<Record<string, string>>): MemoryState {
  const state = createMemoryState();
  const draft = createDraft(state);
  for (const [key, value] of Object.entries(usernames)) draft.set("usernames", key, value);
  state.commit(draft.changes());
  return state;
}

const start = { a: "first", b: "second" };

describe("a draft", () => {
  test("A draft reads and rolls back like a plain map.", () => {
    fc.assert(
      fc.property(actions, (sequence) => {
        const draft = createDraft(stateWith(start));
        let model = new Map<string, string>(Object.entries(start));
        const marks: { mark: number; model: Map<string, string> }[] = [];
        for (const action of sequence) {
          if (action.kind === "mark") marks.push({ mark: draft.mark(), model: new Map(model) });
          else if (action.kind === "rollback") {
            const last = marks.pop();
            if (!last) continue;
            draft.rollback(last.mark);
            model = last.model;
          } else {
            draft.set("usernames", action.key, action.value);
            if (action.value === undefined) model.delete(action.key);
            else model.set(action.key, action.value);
          }
          for (const key of "abcd") expect(draft.get("usernames", key)).toBe(model.get(key));
        }
      }),
    );
  });

  test("A draft records changes whose commit yields its content and whose revert yields the previous state.", () => {
    fc.assert(
      fc.property(actions, (sequence) => {
        const state = stateWith(start);
        const before = contentOf(state);
        const draft = createDraft(state);
        for (const action of sequence) {
          if (action.kind === "set") draft.set("usernames", action.key, action.value);
        }
        const changes = draft.changes();
        state.commit(changes);
        for (const key of "abcd") expect(state.get("usernames", key)).toBe(draft.get("usernames", key));
        state.revert(changes);
        expect(contentOf(state)).toEqual(before);
      }),
    );
  });

  test("A draft returns the changes after a mark like a draft that started there.", () => {
    fc.assert(
      fc.property(actions, actions, (first, second) => {
        const state = stateWith(start);
        const whole = createDraft(state);
        const write = (draft: typeof whole, sequence: Action[]) => {
          for (const action of sequence) {
            if (action.kind === "set") draft.set("usernames", action.key, action.value);
          }
        };
        write(whole, first);
        const mark = whole.mark();
        const upper = createDraft(whole);
        write(upper, second);
        const expected = upper.changes();
        write(whole, second);
        expect(whole.changes(mark)).toEqual(expected);
      }),
    );
  });

  test("A draft lists one change for each record, in the order of first writing.", () => {
    const draft = createDraft(stateWith(start));
    draft.set("usernames", "b", "x");
    draft.set("locks", "b", "owner");
    draft.set("usernames", "b", "y");
    draft.set("usernames", "a", undefined);
    expect(draft.changes()).toEqual([
      { table: "usernames", key: "b", before: "second", after: "y" },
      { table: "locks", key: "b", before: undefined, after: "owner" },
      { table: "usernames", key: "a", before: "first", after: undefined },
    ]);
  });

  test("A draft omits a record that was created and removed again.", () => {
    const draft = createDraft(createMemoryState());
    draft.set("locks", "id", "owner");
    draft.set("locks", "id", undefined);
    expect(draft.changes()).toEqual([]);
  });

  test("A draft does not return the base's record after a removal.", () => {
    const draft = createDraft(stateWith(start));
    draft.set("usernames", "a", undefined);
    expect(draft.get("usernames", "a")).toBeUndefined();
    expect(createDraft(draft).get("usernames", "a")).toBeUndefined();
  });
});

describe("lists of a draft and of memory", () => {
  const delegate = {
    username: "d",
    voteBalance: 0n,
    forgedFees: 0n,
    forgedRewards: 0n,
    producedBlocks: 0,
    round: 0,
  };

  function example() {
    const state = createMemoryState();
    const draft = createDraft(state);
    draft.set("wallets", "delegate", wallet("delegate", { delegate }));
    draft.set("wallets", "voter", wallet("voter", { vote: "key" }));
    draft.set("wallets", "other", wallet("other", { vote: "other key" }));
    draft.set("properties", "t/type", "1");
    draft.set("properties", "t/color", "blue");
    draft.set("properties", "u/type", "2");
    state.commit(draft.changes());
    return state;
  }

  test("Lists of delegates, voters and properties come from the base.", () => {
    const draft = createDraft(example());
    expect([...draft.delegates()]).toEqual(["delegate"]);
    expect([...draft.voters("key")]).toEqual(["voter"]);
    expect([...draft.properties("t")]).toEqual([
      ["type", "1"],
      ["color", "blue"],
    ]);
  });

  test("A written record of a list hides that of the base.", () => {
    const draft = createDraft(example());
    draft.set("wallets", "voter", wallet("voter"));
    draft.set("wallets", "other", wallet("other", { vote: "key", delegate }));
    draft.set("properties", "t/color", undefined);
    draft.set("properties", "t/new", "value");
    expect([...draft.voters("key")]).toEqual(["other"]);
    expect([...draft.voters("other key")]).toEqual([]);
    expect([...draft.delegates()].sort()).toEqual(["delegate", "other"]);
    expect(Object.fromEntries(draft.properties("t"))).toEqual({ type: "1", new: "value" });
  });

  test("Memory keeps its lists through commit and revert.", () => {
    const state = example();
    const draft = createDraft(state);
    draft.set("wallets", "voter", wallet("voter", { vote: "other key" }));
    draft.set("wallets", "delegate", undefined);
    const changes = draft.changes();
    state.commit(changes);
    expect([...state.voters("key")]).toEqual([]);
    expect([...state.voters("other key")].sort()).toEqual(["other", "voter"]);
    expect([...state.delegates()]).toEqual([]);
    state.revert(changes);
    expect([...state.voters("key")]).toEqual(["voter"]);
    expect([...state.delegates()]).toEqual(["delegate"]);
  });
});
