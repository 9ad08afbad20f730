/** Proofs as responses contain them (proofs.md 3). */
import type { Proof as ProofData } from "@uniknode/client/proofs";
import { Type } from "../../platform/json/schema.ts";
import { hex, id, publicKey } from "./values.ts";

const headers = (description: string) => Type.Array(hex, { description });

export const Proof = Type.Unsafe<ProofData>(
  Type.Object(
    {
      nethash: id,
      transaction: Type.Optional(
        Type.String({ pattern: "^[0-9a-f]*$", description: "Signed bytes; absent in the proof of a block." }),
      ),
      ids: Type.Array(id, { description: "Ids of all transactions of the block, in order." }),
      headers: headers("Signed bytes of the header of the block, and of those above it."),
      advances: Type.Array(headers("A complete round, and headers above it until it is final."), {
        description: "Headers by which the trusted keys advance from the checkpoint.",
      }),
      rounds: Type.Array(
        Type.Object({
          round: Type.Integer({ minimum: 1 }),
          delegates: Type.Array(Type.Union([publicKey, Type.Null()]), {
            description: "Delegates by rank; null if a delegate signed none of the headers.",
          }),
        }),
        { description: "Rounds of all headers, ascending." },
      ),
    },
    { title: "Proof" },
  ),
);
