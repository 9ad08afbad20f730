/** Proofs of transactions and blocks (proofs.md, http-api.md 6.3 and 6.4). */
import type { Proof as ProofData } from "@uniknode/client/proofs";
import { Type } from "../../platform/json/schema.ts";
import { buildProof, type ProofRequest } from "../../proofs/request.ts";
import type { Snapshot } from "../../read/port.ts";
import type { Api } from "../core/api.ts";
import type { Server } from "../core/app.ts";
import { HttpError, notFound } from "../core/error.ts";
import { HEAD_ONLY } from "../core/head-cache.ts";
import { hex, id, publicKey } from "../core/values.ts";
import { described, single } from "../documentation/route.ts";
import { blockId, hex64, positive, query } from "../requests/parameters.ts";
import { findBlock } from "../responses/block.ts";

const headers = (description: string) => Type.Array(hex, { description });

/** A proof as responses contain it (proofs.md 3). */
const Proof = Type.Unsafe<ProofData>(
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

const querystring = query({ checkpoint: Type.Optional(positive) });
const checkpointOf = ({ checkpoint }: { checkpoint?: string }) =>
  checkpoint === undefined ? undefined : Number(checkpoint);

const REFUSALS = { 409: "The parent of the block has an id of 64 bits." };

/** @throws {HttpError} PROOF_UNAVAILABLE */
async function prove(snapshot: Snapshot, { network }: Api, request: ProofRequest) {
  const proof = await buildProof(snapshot, network, request);
  if (proof) return proof;
  throw new HttpError(
    "PROOF_UNAVAILABLE",
    `The block at height ${request.block.height} or its parent has no full id`,
  );
}

export function addTransactionProof(app: Server, api: Api): void {
  app.get(
    "/transactions/:id/proof",
    {
      config: HEAD_ONLY,
      schema: described(
        "Transactions",
        "Returns a proof that a final block contains a transaction, for `verifyProof` of @uniknode/client/proofs.",
        single(Proof),
        { params: Type.Object({ id: hex64 }), querystring },
        REFUSALS,
      ),
    },
    (request) =>
      api.read(request, async (snapshot) => {
        const id = request.params.id;
        const [found, transaction] = [
          await snapshot.transactions.byId(id),
          await snapshot.transactions.bytesById(id),
        ];
        const block = found && (await snapshot.blocks.byHeight(found.height));
        if (!block || !transaction) throw notFound("TRANSACTION_UNKNOWN", "Transaction");
        const checkpoint = checkpointOf(request.query);
        return { data: await prove(snapshot, api, { block, transaction, checkpoint }) };
      }),
  );
}

export function addBlockProof(app: Server, api: Api): void {
  app.get(
    "/blocks/:id/proof",
    {
      config: HEAD_ONLY,
      schema: described(
        "Blocks",
        "Returns a proof that a block, by id or height, is final, for `verifyProof` of @uniknode/client/proofs.",
        single(Proof),
        { params: Type.Object({ id: blockId }), querystring },
        REFUSALS,
      ),
    },
    (request) =>
      api.read(request, async (snapshot) => {
        const block = await findBlock(snapshot, request.params.id);
        if (!block) throw notFound("BLOCK_UNKNOWN", "Block");
        const checkpoint = checkpointOf(request.query);
        return { data: await prove(snapshot, api, { block, checkpoint }) };
      }),
  );
}
