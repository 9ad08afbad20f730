/** Derives the facts of blocks from the rows of a mirror. */
import type { Block, Network } from "@uniknode/protocol";
import type { Query } from "../../postgres/connection.ts";
import type { FactLookups } from "../../store/chain/fact-lookups.ts";
import { createPastFacts, type PastFact } from "../past-facts.ts";
import { readLookups } from "./lookups.ts";
import { type OwnerQuestion, readOwners } from "./owners.ts";

/** Returns the facts of consecutive blocks of the mirror; `query` must read one commit, which has these blocks. */
export async function readFacts(
  query: Query,
  blocks: readonly Block[],
  network: Network,
): Promise<PastFact[][]> {
  const heights = blocks.map(({ header }) => header.height);
  const range = { first: Math.min(...heights), last: Math.max(...heights) };
  const lookups = await readLookups(query, range, network);
  const questions: OwnerQuestion[] = [];
  const facts = factsOf(blocks, { ...lookups, ownerAfter: note(questions) }, network);
  // Only disclosures need owners; they are rare.
  if (questions.length === 0) return facts;
  return factsOf(blocks, { ...lookups, ...(await readOwners(query, questions)) }, network);
}

/** Records the questions, which show the owners that must be read. */
const note =
  (questions: OwnerQuestion[]): FactLookups["ownerAfter"] =>
  (tokenId, position) => {
    questions.push({ tokenId, position });
    return undefined;
  };

function factsOf(blocks: readonly Block[], lookups: FactLookups, network: Network): PastFact[][] {
  const pastFacts = createPastFacts(lookups, network);
  let previous: Block["header"] | undefined;
  return blocks.map((block) => {
    const facts = pastFacts.of(block, { previous });
    previous = block.header;
    return facts;
  });
}
