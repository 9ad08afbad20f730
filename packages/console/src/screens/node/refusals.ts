/** Why slots of the delegates of this node were not signed. */
export const REFUSALS: Readonly<Record<string, string>> = {
  signed_before: "the signing record has the slot or a later one",
  watching: "the node had just started, and watched for another forger with the same keys",
  other_forger: "another forger signs with the same keys",
};
