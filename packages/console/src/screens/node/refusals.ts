/** Reasons why slots of this node's delegates were not signed. */
export const REFUSALS: Readonly<Record<string, string>> = {
  signed_before: "the signing record already has the slot or a later one",
  watching: "the node was watching for another forger with the same keys after its start",
  other_forger: "another forger signs with the same keys",
};
