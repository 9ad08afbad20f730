/** `/uniks`, `/nfts` and `/nfts/status` (http-api.md 6.12). Requests that do not validate are 400 here. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "../../platform/json/schema.ts";
import type { TokenFilter, TokenOrder } from "../../read/filters.ts";
import { UNIKS } from "../../read/lists.ts";
import type { Snapshot } from "../../read/port.ts";
import type { StoredToken } from "../../read/rows.ts";
import type { Api, Resource } from "../core/api.ts";
import type { Server } from "../core/app.ts";
import { HttpError, isOwnPath, notFound } from "../core/error.ts";
import { EACH_BLOCK, HEAD_ONLY } from "../core/head-cache.ts";
import { countText } from "../core/values.ts";
import { chainmetaMember, described, listOf, single } from "../documentation/route.ts";
import { body, searchMembers } from "../requests/list-schemas.ts";
import { type ListRequest, listResponse, pageOf, pageQuery } from "../requests/pagination.ts";
import { hex64, orderOf, query } from "../requests/parameters.ts";
import { atParameter, atQuery, PAST_REFUSALS, pastState } from "../requests/past-state.ts";
import {
  propertyList,
  systemPropertiesOf,
  TokenDetail,
  type TokenName,
  TokenProperty,
  type TokenState,
  TokenSummary,
  tokenDetail,
  tokenSummary,
} from "../responses/unik.ts";

export const TOKEN_NAMES: readonly TokenName[] = ["unik", "nft"];

const config = { invalidStatus: 400, ...HEAD_ONLY } as const;
const withHead = { invalidStatus: 400, ...EACH_BLOCK } as const;

/** Any text is accepted; only the fields of a summary have an effect. */
export const TOKEN_ORDER = {
  description: "id or ownerId, followed by :asc or :desc; any other value means id:asc",
};
const anyOrder = Type.Optional(Type.String({ minLength: 1, ...TOKEN_ORDER }));

const params = Type.Object({ id: hex64 });

const searchBody = body({ ...searchMembers(UNIKS), orderBy: anyOrder });

const TokenStatus = Type.Object(
  { nftName: Type.String(), individual: countText, organization: countText, network: countText },
  { title: "TokenStatus" },
);

export const uniks: Resource = (app, api) => {
  addStatus(app, api);
  for (const name of TOKEN_NAMES) {
    addList(app, api, name);
    addSearch(app, api, name);
    addToken(app, api, name);
    addProperties(app, api, name);
    addProperty(app, api, name);
  }
  addOtherNames(app);
};

function addStatus(app: Server, api: Api): void {
  const status = described(
    "Uniks",
    "Returns the number of uniks of each type.",
    single(Type.Array(TokenStatus), chainmetaMember),
  );
  app.get("/nfts/status", { config: EACH_BLOCK, schema: status }, (request) =>
    api.read(request, async ({ head, tokens }) => {
      const counts = await tokens.countsByType();
      const count = (type: string) => `${counts.get(type) ?? 0}`;
      const status = {
        nftName: "UNIK",
        individual: count("1"),
        organization: count("2"),
        network: count("3"),
      };
      return { data: [status], ...api.chainmeta(head) };
    }),
  );
}

function addList(app: Server, api: Api, name: TokenName): void {
  app.get(
    `/${name}s`,
    {
      config,
      schema: described("Uniks", "Lists uniks by id.", listOf(TokenSummary), {
        querystring: query({ ...pageQuery, orderBy: anyOrder }),
      }),
    },
    (request) => api.read(request, (snapshot) => tokenList(snapshot, request, name, {}, request.query)),
  );
}

function addSearch(app: Server, api: Api, name: TokenName): void {
  app.post(
    `/${name}s/search`,
    {
      config,
      schema: described("Uniks", "Searches uniks by ids or owner.", listOf(TokenSummary), {
        querystring: query(pageQuery),
        body: searchBody,
      }),
    },
    (request) => {
      const { id, ownerId } = request.body;
      const filter = {
        ...(id !== undefined && { id: [id].flat().map((text) => text.toLowerCase()) }),
        ...(ownerId !== undefined && { ownerId }),
      };
      return api.read(request, (snapshot) => tokenList(snapshot, request, name, filter, request.body));
    },
  );
}

function addToken(app: Server, api: Api, name: TokenName): void {
  app.get(
    `/${name}s/:id`,
    {
      config: withHead,
      schema: described(
        "Uniks",
        "Returns a unik; with `at`, as it was after the block of this height.",
        single(TokenDetail, chainmetaMember),
        { params, querystring: atQuery },
        PAST_REFUSALS,
      ),
    },
    (request) =>
      api.read(request, async (snapshot) => {
        const state = (await pastState(snapshot, request.query)) ?? snapshot;
        const token = await findToken(state, request.params.id);
        return { data: tokenDetail(token, name), ...api.chainmeta(snapshot.head) };
      }),
  );
}

function addProperties(app: Server, api: Api, name: TokenName): void {
  app.get(
    `/${name}s/:id/properties`,
    {
      config: withHead,
      schema: described(
        "Uniks",
        "Lists the properties of a unik: first the stored ones, then the ones of every unik. With `at`, as they were after the block of this height.",
        listOf(TokenProperty, chainmetaMember),
        { params, querystring: query({ ...pageQuery, ...atParameter }) },
        PAST_REFUSALS,
      ),
    },
    (request) =>
      api.read(request, async (snapshot) => {
        const state = (await pastState(snapshot, request.query)) ?? snapshot;
        const token = await findToken(state, request.params.id);
        return { ...(await propertyList(request, state, token)), ...api.chainmeta(snapshot.head) };
      }),
  );
}

function addProperty(app: Server, api: Api, name: TokenName): void {
  app.get(
    `/${name}s/:id/properties/:key`,
    {
      config: withHead,
      schema: described(
        "Uniks",
        "Returns the value of a property; with `at`, as it was after the block of this height. Encode a slash in the key as %2F.",
        single(Type.String(), chainmetaMember),
        {
          params: Type.Object({ id: hex64, key: Type.String({ minLength: 1, maxLength: 255 }) }),
          querystring: atQuery,
        },
        PAST_REFUSALS,
      ),
    },
    (request) =>
      api.read(request, async (snapshot) => {
        const { key } = request.params;
        const id = request.params.id.toLowerCase();
        const state = (await pastState(snapshot, request.query)) ?? snapshot;
        const value = (await state.tokens.property(id, key)) ?? (await systemProperty(state, id, key));
        if (value === undefined) throw new HttpError("PROPERTY_UNKNOWN");
        return { data: value, ...api.chainmeta(snapshot.head) };
      }),
  );
}

/** Adds routes for unknown token names, so that requests for them count like requests for any other resource. */
function addOtherNames(app: Server): void {
  const notHere = ({ url }: FastifyRequest, reply: FastifyReply) => {
    if (!isOwnPath(url)) throw new HttpError("TOKEN_TYPE_UNKNOWN");
    // Not a token: an unsupported method of such a path, or a disabled route.
    reply.callNotFound();
  };
  for (const path of ["", "/:id", "/:id/properties", "/:id/properties/:key"]) {
    app.get(`/:name(^.+s$)${path}`, { schema: { hide: true } }, notHere);
  }
  app.post("/:name(^.+s$)/search", { schema: { hide: true } }, notHere);
}

async function tokenList(
  { tokens }: Snapshot,
  request: ListRequest,
  name: TokenName,
  filter: TokenFilter,
  order: { orderBy?: string },
) {
  const page = pageOf(request.query);
  const { rows, ...found } = await tokens.list(filter, tokenOrderOf(order), page);
  return listResponse(request, page, { rows: rows.map((token) => tokenSummary(token, name)), ...found });
}

/** Parses an `orderBy`; orders by id if it does not name a member of a summary. */
export function tokenOrderOf({ orderBy }: { orderBy?: string }): TokenOrder {
  const order = orderOf(orderBy, UNIKS);
  return UNIKS.orders.includes(order.field) ? order : UNIKS.defaultOrder;
}

async function findToken({ tokens }: TokenState, id: string): Promise<StoredToken> {
  const token = await tokens.find(id.toLowerCase());
  if (!token) throw notFound("UNIK_UNKNOWN", `Non fungible token ${id}`);
  return token;
}

async function systemProperty(state: TokenState, id: string, wanted: string): Promise<string | undefined> {
  const token = await state.tokens.find(id);
  const properties = token && (await systemPropertiesOf(state, token));
  return properties?.find(([key]) => key === wanted)?.[1];
}
