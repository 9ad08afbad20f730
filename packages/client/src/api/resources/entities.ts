/** `/entities` (http-api.md 6.11). */

import { createList } from "../list.ts";
import type { EntityFilter, EntityOrder, EntitySearchFilter } from "../list-filters.ts";
import { path } from "../request.ts";
import type { ApiResponse } from "../responses.ts";
import type { Send } from "../send.ts";

export type Entity = {
  /** Id of the transaction that registered the entity. */
  readonly id: string;
  readonly publicKey: string;
  readonly address: string;
  readonly type: number;
  readonly subType: number;
  readonly data: { readonly name?: string; readonly ipfsData?: string };
  readonly isResigned: boolean;
};

export const entities = (send: Send) => ({
  list: (query?: EntityFilter & { readonly orderBy?: EntityOrder }) =>
    createList<Entity>(send, { path: "/entities", query }),

  get: (id: string) => send<ApiResponse<Entity>>({ path: path`/entities/${id}` }),

  search: (search: EntitySearchFilter, query?: { readonly orderBy?: EntityOrder }) =>
    createList<Entity>(send, { method: "POST", path: "/entities/search", body: search, query }),
});
