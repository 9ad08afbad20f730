/** Events of past facts, with the ids and contents that `history.ts` describes. */
import { addressFromPublicKey, type BlockHeader, createSlots, type Network } from "@uniknode/protocol";
import { eventsOfFacts, type FinalBlock, factId, sourceOf } from "../events/block-events.ts";
import type { JsonObject } from "../events/content.ts";
import type { Event } from "../events/event.ts";
import type { PastFact } from "./past-facts.ts";

/** @param usernameOf returns the present username of a delegate */
export function createFactEvents(
  network: Network,
  usernameOf: (publicKey: string) => string | undefined,
): (fact: PastFact | FinalBlock, header: BlockHeader) => Event[] {
  const slots = createSlots(network);
  function delegateData(publicKey: string): JsonObject {
    const username = usernameOf(publicKey);
    const address = addressFromPublicKey(publicKey, network.description.pubKeyHash);
    return { address, publicKey, ...(username !== undefined && { username }) };
  }

  return (fact, header) => {
    const source = sourceOf(header, slots);
    const named = (...parts: (string | number)[]) => ({
      id: factId(fact.name, header.id, ...parts),
      name: fact.name,
      ...source,
    });
    switch (fact.name) {
      case "forger.missing":
        return [{ ...named(fact.slot), data: { delegate: delegateData(fact.publicKey) } }];
      case "round.missed": {
        const delegate = delegateData(fact.publicKey);
        return [{ ...named(fact.round, `${delegate.address}`), data: { delegate } }];
      }
      case "round.created": {
        const data = fact.delegates.map(({ publicKey, voteBalance }) => ({
          ...delegateData(publicKey),
          votes: `${voteBalance}`,
          round: fact.round,
        }));
        return [{ ...named(fact.round), data }];
      }
      default:
        return eventsOfFacts([fact], header, slots);
    }
  };
}
