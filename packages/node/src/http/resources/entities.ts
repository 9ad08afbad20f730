/** `/entities` (http-api.md 6.11). */
import { Type } from "../../platform/json/schema.ts";
import type { EntityFilter, EntityOrder } from "../../read/filters.ts";
import { ENTITIES } from "../../read/lists.ts";
import type { Snapshot } from "../../read/port.ts";
import type { StoredEntity } from "../../read/rows.ts";
import type { Api, Resource } from "../core/api.ts";
import type { Server } from "../core/app.ts";
import { notFound } from "../core/error.ts";
import { HEAD_ONLY } from "../core/head-cache.ts";
import { address as addressText, count, id, publicKey as publicKeyText } from "../core/values.ts";
import { described, listOf, single } from "../documentation/route.ts";
import { listParameters, searchSchemas } from "../requests/list-schemas.ts";
import { isFlag, matches, memoryList, passing, type Rate, type Tests } from "../requests/memory-list.ts";
import { type ListRequest, pageQuery } from "../requests/pagination.ts";
import { hex64, orderOf, query } from "../requests/parameters.ts";

const Entity = Type.Object(
  {
    id,
    publicKey: publicKeyText,
    address: addressText,
    type: count,
    subType: count,
    data: Type.Object({ name: Type.Optional(Type.String()), ipfsData: Type.Optional(Type.String()) }),
    isResigned: Type.Boolean(),
  },
  { title: "Entity" },
);

const RATES = {
  address: ({ address }) => address,
  id: ({ id }) => id,
  isResigned: ({ resigned }) => resigned === true,
  publicKey: ({ publicKey }) => publicKey,
  subType: ({ subType }) => subType,
  type: ({ type }) => type,
} as const satisfies Record<EntityOrder["field"], Rate<StoredEntity>>;

const TESTS: Tests<StoredEntity, EntityFilter> = {
  publicKey: ({ publicKey }, value) => publicKey === value,
  type: ({ type }, value) => matches(type, value),
  subType: ({ subType }, value) => matches(subType, value),
  name: ({ data }, value) => data.name?.includes(value) === true,
  isResigned: ({ resigned }, value) => isFlag(resigned === true, value),
};

const listQuery = query({ ...pageQuery, ...listParameters(ENTITIES) });
const search = searchSchemas(ENTITIES);

export const entities: Resource = (app, api) => {
  addList(app, api);
  addSearch(app, api);
  addEntity(app, api);
};

function addList(app: Server, api: Api): void {
  app.get(
    "/entities",
    {
      config: HEAD_ONLY,
      schema: described("Entities", "Lists entities, resigned ones included.", listOf(Entity), {
        querystring: listQuery,
      }),
    },
    (request) => api.read(request, (snapshot) => entityList(snapshot, request, request.query)),
  );
}

function addSearch(app: Server, api: Api): void {
  app.post(
    "/entities/search",
    {
      schema: described("Entities", "Searches entities.", listOf(Entity), search),
    },
    (request) => api.read(request, (snapshot) => entityList(snapshot, request, request.body)),
  );
}

function addEntity(app: Server, api: Api): void {
  app.get(
    "/entities/:id",
    {
      config: HEAD_ONLY,
      schema: described("Entities", "Returns an entity.", single(Entity), {
        params: Type.Object({ id: hex64 }),
      }),
    },
    (request) =>
      api.read(request, async ({ entities }) => {
        const entity = await entities.find(request.params.id);
        if (!entity) throw notFound("ENTITY_UNKNOWN", "Entity");
        return { data: entityResponse(entity) };
      }),
  );
}

async function entityList(
  { entities }: Snapshot,
  request: ListRequest<{ orderBy?: string }>,
  filter: EntityFilter,
) {
  const { field, direction } = orderOf(request.query.orderBy, ENTITIES);
  const found = passing(await entities.all(), TESTS, filter);
  return memoryList(request, found, {
    show: entityResponse,
    id: ({ id }) => id,
    rate: RATES[field],
    direction,
  });
}

const entityResponse = ({ id, publicKey, address, type, subType, data, resigned }: StoredEntity) => ({
  id,
  publicKey,
  address,
  type,
  subType,
  data,
  isResigned: resigned === true,
});
