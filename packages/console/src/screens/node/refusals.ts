/** Reasons why slots of this node's delegates were not signed. */
export const REFUSALS: Readonly<Record<string, string>> = {
  signed_before: "already signed this slot or a later one",
  watching: "watched for another forger with its keys",
  other_forger: "another forger has the same keys",
  head_in_future: "the head was in the future of the node's clock",
};
