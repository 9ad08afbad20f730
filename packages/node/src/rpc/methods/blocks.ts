/** `blocks.*`: blocks as the API shows them. */
import { Type } from "../../platform/json/schema.ts";
import { type Method, method } from "../define-method.ts";

const id = Type.String({ pattern: "^([0-9]{1,20}|[0-9a-fA-F]{64})$" });
export const offset = Type.Optional(Type.Integer({ minimum: 0 }));

export const blockMethods: Readonly<Record<string, Method>> = {
  "blocks.info": method(Type.Object({ id }), async (params, { client }) => {
    return (await client.blocks.get(params.id)).data;
  }),

  "blocks.latest": method(Type.Object({}), async (_params, { client }) => (await client.blocks.last()).data),

  "blocks.transactions": method(Type.Object({ id, offset }), async ({ id, offset = 0 }, { client }) => {
    const list = client.blocks.transactions(id, { orderBy: "timestamp:desc" });
    const { meta, data } = await list.page({ offset });
    return { count: meta.totalCount, data };
  }),
};
