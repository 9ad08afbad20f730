/** The owner of the webhooks, as the node's database stores it: in the rows `webhookOwner` of `meta`. */
import type { Database } from "../../../store/engine/database.ts";
import { MetaStore } from "../../../store/node/meta.ts";
import { OWNED_BY_NODE, OWNER_STATES, type Owner } from "../../hand-over/owner.ts";
import { readEventNames } from "../../storage/webhooks.ts";
import { runNow, sqlOf } from "../sql.ts";

/** Separates the state from the id of the transfer. */
const SEPARATOR = ": ";

export class OwnerStore {
  readonly #meta: MetaStore;

  constructor(database: Database) {
    this.#meta = new MetaStore(database);
  }

  read(): Owner {
    const [word, transfer] = this.#meta.read("webhookOwner")?.split(SEPARATOR) ?? [];
    const state = OWNER_STATES.find((state) => state === word);
    return state === undefined ? OWNED_BY_NODE : { state, transfer };
  }

  write({ state, transfer = "" }: Owner): void {
    this.#meta.write("webhookOwner", `${state}${SEPARATOR}${transfer}`);
  }
}

/** Reads the names that the webhooks need in the log. While delivery workers own them, the log records the names of their database. */
export function createWebhookNames(database: Database): () => ReadonlySet<string> {
  const owners = new OwnerStore(database);
  return () => {
    const { state } = owners.read();
    const isOwner = state === "node" || state === "to workers";
    return isOwner ? runNow(readEventNames(sqlOf(database))) : new Set();
  };
}
