/** `/blockchain` (http-api.md 6.1). */
import { integer } from "./answers/integer.ts";
import type { Resource } from "./api.ts";

export const blockchain: Resource = (app, { queries, read }) => {
  app.get("/blockchain", () =>
    read((head) => ({
      data: {
        block: { height: head.height, id: head.id },
        supply: integer(`${queries.chain.supply(head)}`),
      },
    })),
  );
};
