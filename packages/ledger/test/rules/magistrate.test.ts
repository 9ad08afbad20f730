/** Businesses, bridgechains and entities (transactions-rules.md 4). */

import { entityKey, type ShownAttributes } from "@uniknode/ledger";
import { type Asset, type BridgechainAsset, present } from "@uniknode/protocol";
import { describe, expect, test } from "vitest";
import {
  apply,
  networkWith,
  refusalOf,
  someDelegate,
  stateOf,
  transactionOf,
  walletNamed,
} from "../../test-support/fixtures.ts";

const rich = { balance: 100_000_000_000n };

const send = (type: number, asset?: Asset) =>
  transactionOf(`2/${type}`, "alice", { ...(asset && { asset }) });
const of = (attributes: ShownAttributes) => stateOf({ alice: { ...rich, attributes } });

const businessAsset = { name: "Acme", website: "https://acme.example" };
const bridgechainAsset: BridgechainAsset = {
  name: "Side",
  seedNodes: ["1.2.3.4"],
  genesisHash: "aa".repeat(32),
  bridgechainRepository: "https://acme.example/side",
  ports: { "@arkecosystem/core-api": 4003 },
};
const id = bridgechainAsset.genesisHash;

const business: ShownAttributes = { business: { businessAsset } };
const resignedBusiness: ShownAttributes = { business: { businessAsset, resigned: true } };
const withBridgechain = (resigned?: boolean): ShownAttributes => ({
  business: {
    businessAsset,
    bridgechains: { [id]: { bridgechainAsset, ...(resigned && { resigned }) } },
  },
});

const businessOf = (draft: ReturnType<typeof stateOf>) => walletNamed(draft, "alice").attributes.business;

describe("business", () => {
  test("A business is registered, changed and resigned.", () => {
    const draft = of({});
    apply(draft, send(0, { businessRegistration: businessAsset }));
    expect(businessOf(draft)).toEqual({ businessAsset });
    apply(draft, { ...send(2, { businessUpdate: { vat: "12345678", name: "Ajax" } }), nonce: 2n });
    expect(businessOf(draft)).toEqual({ businessAsset: { ...businessAsset, name: "Ajax", vat: "12345678" } });
    apply(draft, { ...send(1), nonce: 3n });
    expect(businessOf(draft)).toMatchObject({ resigned: true });
  });

  test("A business registration refuses a second one, even after a resignation, before the generic checks.", () => {
    const registration = { ...send(0, { businessRegistration: businessAsset }), nonce: 9n };
    expect(refusalOf(of(business), registration)).toBe("BusinessAlreadyRegisteredError");
    expect(refusalOf(of(resignedBusiness), registration)).toBe("BusinessAlreadyRegisteredError");
    expect(refusalOf(of({}), registration)).toBe("UnexpectedNonceError");
  });

  test("A business resignation needs an active business without an active bridgechain.", () => {
    const resignation = { ...send(1), nonce: 9n };
    expect(refusalOf(of({}), resignation)).toBe("BusinessIsNotRegisteredError");
    expect(refusalOf(of(resignedBusiness), resignation)).toBe("BusinessIsResignedError");
    expect(refusalOf(of(withBridgechain()), resignation)).toBe("BridgechainsAreNotResignedError");
    expect(refusalOf(of(withBridgechain(true)), resignation)).toBe("UnexpectedNonceError");
  });

  test("A business update needs an active business.", () => {
    const update = { ...send(2, { businessUpdate: { name: "Ajax" } }), nonce: 9n };
    expect(refusalOf(of({}), update)).toBe("BusinessIsNotRegisteredError");
    expect(refusalOf(of(resignedBusiness), update)).toBe("BusinessIsResignedError");
    expect(refusalOf(of(business), update)).toBe("UnexpectedNonceError");
  });

  test("Trap A13: the switches of the configuration are not read.", () => {
    const off = networkWith([], { transactionsConfig: { businessRegistration: { enable: false } } });
    const registration = send(0, { businessRegistration: businessAsset });
    expect(refusalOf(of({}), registration, { network: off })).toBe("");
  });

  test.each([0, 1, 2, 3, 4, 5])("The type 2/%i is active from aip11 until aip36.", (type) => {
    const early = networkWith([{ height: 1, aip11: false }]);
    const late = networkWith([{ height: 2, aip36: true }]);
    for (const network of [early, late]) {
      expect(refusalOf(of({}), send(type), { network })).toBe("DeactivatedTransactionHandlerError");
    }
  });
});

describe("bridgechain", () => {
  const register = (members: Partial<BridgechainAsset> = {}) =>
    send(3, { bridgechainRegistration: { ...bridgechainAsset, ...members } });
  const update = (members: Omit<NonNullable<Asset["bridgechainUpdate"]>, "bridgechainId"> = {}) =>
    send(5, { bridgechainUpdate: { bridgechainId: id, ...members } });
  const resign = () => send(4, { bridgechainResignation: { bridgechainId: id } });

  test("A bridgechain is registered, changed and resigned.", () => {
    const draft = of(business);
    apply(draft, register());
    expect(businessOf(draft)).toEqual(withBridgechain().business);
    apply(draft, { ...update({ seedNodes: ["5.6.7.8"] }), nonce: 2n });
    const changed = { ...bridgechainAsset, seedNodes: ["5.6.7.8"] };
    expect(businessOf(draft)?.bridgechains).toEqual({ [id]: { bridgechainAsset: changed } });
    apply(draft, { ...resign(), nonce: 3n });
    expect(businessOf(draft)?.bridgechains).toEqual({ [id]: { bridgechainAsset: changed, resigned: true } });
  });

  test("A bridgechain registration refuses in the order of its section.", () => {
    expect(refusalOf(of({}), register())).toBe("WalletIsNotBusinessError");
    expect(refusalOf(of(resignedBusiness), register())).toBe("BusinessIsResignedError");
    const taken = of(withBridgechain());
    expect(refusalOf(taken, register({ name: "sIDE" }))).toBe("BridgechainAlreadyRegisteredError");
    expect(refusalOf(taken, register({ name: "Other" }))).toBe("GenesisHashAlreadyRegisteredError");
    const badPort = { ports: { "@arkecosystem/core-api": 1, Upper: 2 } };
    expect(refusalOf(taken, register({ name: "Other", ...badPort }))).toBe(
      "GenesisHashAlreadyRegisteredError",
    );
    expect(refusalOf(of(business), { ...register(badPort), nonce: 9n })).toBe(
      "PortKeyMustBeValidPackageNameError",
    );
    expect(refusalOf(of(business), { ...register(), nonce: 9n })).toBe("UnexpectedNonceError");
  });

  test.each(["", "A", "a b", "a:b", "x".repeat(215)])("A bridgechain refuses the port name %j.", (name) => {
    expect(refusalOf(of(business), register({ ports: { [name]: 1 } }))).toBe(
      "PortKeyMustBeValidPackageNameError",
    );
  });

  test.each(["@a/b", "a.b_c~d-e", "x".repeat(214)])("A bridgechain accepts the port name %j.", (name) => {
    expect(refusalOf(of(business), register({ ports: { [name]: 1 } }))).toBe("");
  });

  test("A bridgechain resignation refuses in the order of its section.", () => {
    expect(refusalOf(of({}), resign())).toBe("WalletIsNotBusinessError");
    expect(refusalOf(of(resignedBusiness), resign())).toBe("BusinessIsResignedError");
    expect(refusalOf(of(business), resign())).toBe("BridgechainIsNotRegisteredByWalletError");
    expect(refusalOf(of(withBridgechain(true)), resign())).toBe("BridgechainIsResignedError");
    expect(refusalOf(of(withBridgechain()), { ...resign(), nonce: 9n })).toBe("UnexpectedNonceError");
  });

  test("A bridgechain update refuses in the order of its section.", () => {
    expect(refusalOf(of({}), update())).toBe("BusinessIsNotRegisteredError");
    expect(refusalOf(of(resignedBusiness), update())).toBe("BusinessIsResignedError");
    expect(refusalOf(of(business), update())).toBe("BridgechainIsNotRegisteredByWalletError");
    expect(refusalOf(of(withBridgechain(true)), update())).toBe("BridgechainIsResignedError");
    const draft = of(withBridgechain());
    expect(refusalOf(draft, update({ ports: { "A B": 1 } }))).toBe("PortKeyMustBeValidPackageNameError");
    expect(refusalOf(draft, { ...update(), nonce: 9n })).toBe("UnexpectedNonceError");
  });
});

describe("entity", () => {
  const entities = networkWith([{ height: 2, aip36: true }]);
  const situation = { network: entities };
  const registration = (type = 1, name = "Prod") => ({
    ...send(6, { type, subType: 0, action: 0, data: { name } }),
    fee: 5_000_000_000n,
  });
  const change = (action: number, registrationId: string, members: Partial<Asset> = {}) => ({
    ...send(6, { type: 1, subType: 0, action, registrationId, data: {}, ...members }),
    fee: 500_000_000n,
  });

  test("An entity is registered, changed and resigned.", () => {
    const draft = of({});
    const { id, ...others } = registration();
    apply(draft, { id, ...others }, situation);
    const entity = () => walletNamed(draft, "alice").attributes.entities?.[id];
    expect(entity()).toEqual({ type: 1, subType: 0, data: { name: "Prod" } });
    expect(draft.get("entities", entityKey(1, "prod"))).toBe(id);
    apply(draft, { ...change(1, id, { data: { ipfsData: "Qm" } }), nonce: 2n }, situation);
    expect(entity()).toEqual({ type: 1, subType: 0, data: { name: "Prod", ipfsData: "Qm" } });
    apply(draft, { ...change(2, id), nonce: 3n }, situation);
    expect(entity()).toMatchObject({ resigned: true });
    expect(refusalOf(draft, { ...change(1, id), nonce: 4n }, situation)).toBe("EntityAlreadyResignedError");
  });

  test("The fee of an entity is exact, and is checked before everything else.", () => {
    const cheap = { ...registration(), fee: 1n, nonce: 9n };
    expect(refusalOf(of({}), cheap, situation)).toBe("StaticFeeMismatchError");
    expect(refusalOf(of({}), { ...change(1, "00"), fee: 5_000_000_000n }, situation)).toBe(
      "StaticFeeMismatchError",
    );
    expect(refusalOf(of({}), { ...registration(), nonce: 9n }, situation)).toBe("UnexpectedNonceError");
  });

  test("An entity registration refuses a known id, then a name that is used for the type anywhere.", () => {
    const draft = stateOf({ alice: rich, bob: rich });
    const first = registration();
    apply(draft, first, situation);
    const again = { ...registration(1, "Another"), id: first.id, nonce: 2n };
    expect(refusalOf(draft, again, situation)).toBe("EntityAlreadyRegisteredError");
    const fromBob = transactionOf("2/6", "bob", {
      fee: first.fee,
      asset: present(registration(1, "PROD").asset, "asset"),
    });
    expect(refusalOf(draft, fromBob, situation)).toBe("EntityNameAlreadyRegisteredError");
    const otherType = { ...registration(2), nonce: 2n };
    expect(refusalOf(draft, otherType, situation)).toBe("");
  });

  test("An entity of type 4 has the name of its delegate.", () => {
    expect(refusalOf(of({}), registration(4), situation)).toBe("EntitySenderIsNotDelegateError");
    const draft = of({ delegate: someDelegate({ username: "Prod" }) });
    expect(refusalOf(draft, registration(4, "prod"), situation)).toBe("EntityNameDoesNotMatchDelegateError");
    expect(refusalOf(draft, registration(4), situation)).toBe("");
  });

  test("Update and resignation need the sender's own entity, of the same type and subtype.", () => {
    const draft = of({});
    const { id } = registration();
    expect(refusalOf(draft, change(1, id), situation)).toBe("EntityNotRegisteredError");
    apply(draft, { ...registration(), id }, situation);
    const next = { nonce: 2n };
    expect(refusalOf(draft, { ...change(2, id, { type: 2 }), ...next }, situation)).toBe(
      "EntityWrongTypeError",
    );
    expect(refusalOf(draft, { ...change(2, id, { subType: 2 }), ...next }, situation)).toBe(
      "EntityWrongSubTypeError",
    );
  });

  test("An entity is inactive before aip36.", () => {
    expect(refusalOf(of({}), registration())).toBe("DeactivatedTransactionHandlerError");
  });
});
