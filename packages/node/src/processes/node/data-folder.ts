/** The data folder: locked for this process, with its database open and its secrets readable. */
import { randomBytes } from "node:crypto";
import { join, resolve } from "node:path";
import type { Network } from "@uniknode/protocol";
import { refuseOtherNetwork } from "../../chain/stores.ts";
import { checkpointKeyOf } from "../../facts/note.ts";
import type { Closing } from "../../platform/lifecycle/closing.ts";
import { DEFAULT_CHECKPOINT_OPTIONS, startCheckpoints } from "../../store/engine/checkpoints.ts";
import { type Database, openDatabase } from "../../store/engine/database.ts";
import { type FolderLock, isOpenToAll, lockDataFolder } from "../../store/engine/folder-lock.ts";
import { migrate } from "../../store/engine/migrations.ts";
import {
  createWriteLockMemory,
  createWriteState,
  loggedTrouble,
  priorityWriteLock,
  Writes,
} from "../../store/engine/writes.ts";
import { MetaStore } from "../../store/node/meta.ts";
import { SecretCipher } from "../../webhooks/secrets.ts";
import { encryptSecrets, webhookTokenOf } from "../../webhooks/sqlite/secrets.ts";
import type { NodeDeps, NodeOptions } from "./node-options.ts";

export type DataFolder = {
  readonly database: Database;
  readonly databasePath: string;
  /** Shared with the other threads that write; see `createWriteLockMemory`. */
  readonly writeLock: SharedArrayBuffer;
  /** Shared with the same threads; see `createWriteState`. */
  readonly writeState: SharedArrayBuffer;
  readonly writes: Writes;
  /** Key for `encryptSecrets`; if absent, secrets of webhooks are not encrypted. */
  readonly secretKey: Uint8Array | undefined;
  readonly webhookToken: string;
  /** Key returned by `checkpointKeyOf`. */
  readonly checkpointKey: string;
  /** Rejects when another process may use the folder. */
  readonly lost: Promise<never>;
  /** See `FolderLock`. */
  readonly describe: FolderLock["describe"];
};

/**
 * Changes nothing in a folder that is in use or has the chain of another network.
 *
 * @throws {DataInUseError | ChainError | ConfigError | MigrationError}
 */
export function openDataFolder(
  options: Pick<NodeOptions, "data" | "webhookToken" | "webhookKeyFile" | "webhookOldKeyFile">,
  deps: { readonly network: Network } & Required<Pick<NodeDeps, "logger" | "claimFolder">>,
  onStop: Closing["add"],
): DataFolder {
  const { logger } = deps;
  const lock = lockDataFolder(options.data);
  onStop("data folder", lock.release);
  if (isOpenToAll(options.data)) {
    const remedy = `run chmod 700 ${resolve(options.data)}`;
    logger.warn({ folder: options.data }, `all users of this machine can read the data folder; ${remedy}`);
  }
  const databasePath = join(options.data, "node.sqlite");
  refuseOtherNetwork(databasePath, deps.network);
  deps.claimFolder();
  const writeLock = createWriteLockMemory();
  const writeState = createWriteState();
  const writes = new Writes(writeState, loggedTrouble(logger, resolve(options.data)));
  const database = openDatabase(databasePath, {
    writeLock: priorityWriteLock(writeLock),
    writes,
    makesCheckpoints: false,
  });
  onStop("database", database.close);
  migrate(database, databasePath);
  const meta = new MetaStore(database);
  if (meta.read("eventLog") === undefined) meta.write("eventLog", randomBytes(4).toString("hex"));
  const endCheckpoints = startCheckpoints(DEFAULT_CHECKPOINT_OPTIONS, {
    database,
    databasePath,
    onError: (err) => logger.warn({ err }, "failed to copy the write-ahead log into the database; retrying"),
  });
  onStop("checkpoints", endCheckpoints);
  const secretKey = encryptSecrets(database, options, (text) => logger.warn(text));
  const webhookToken = webhookTokenOf(options.webhookToken, meta, new SecretCipher(secretKey));
  const checkpointKey = checkpointKeyOf(options.data);
  return {
    database,
    databasePath,
    writeLock,
    writeState,
    writes,
    secretKey,
    webhookToken,
    checkpointKey,
    lost: lock.lost,
    describe: lock.describe,
  };
}
