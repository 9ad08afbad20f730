/** `/blockchain` (http-api.md 6.1). */
import { Type } from "../../platform/json/schema.ts";
import { integer } from "../answers/integer.ts";
import { blockId, wholeAmount } from "../answers/values.ts";
import { described, single } from "../documentation/route.ts";
import { HEAD_ONLY } from "../server/head-cache.ts";
import type { Resource } from "./api.ts";

const Blockchain = Type.Object({
  block: Type.Object({ height: Type.Integer({ minimum: 1 }), id: blockId }),
  supply: wholeAmount,
});
const schema = described("Blockchain", "The last block and the coins in circulation.", single(Blockchain));

export const blockchain: Resource = (app, { read }) => {
  app.get("/blockchain", { config: HEAD_ONLY, schema }, (request) =>
    read(request, async ({ head, chain }) => ({
      data: {
        block: { height: head.height, id: head.id },
        supply: integer(`${await chain.supply()}`),
      },
    })),
  );
};
