/** The data folder: locked for this process, with its database open and its secrets readable. */
import { join, resolve } from "node:path";
import type { Logger } from "pino";
import { checkpointKeyOf } from "../../facts/key-file.ts";
import type { Closing } from "../../platform/lifecycle/closing.ts";
import { DEFAULT_CHECKPOINT_OPTIONS, startCheckpoints } from "../../store/engine/checkpoints.ts";
import { type Database, openDatabase } from "../../store/engine/database.ts";
import { type FolderLock, isOpenToAll, lockDataFolder } from "../../store/engine/folder-lock.ts";
import { isOlder, migrate } from "../../store/engine/migrations.ts";
import { createWriteLockMemory, priorityWriteLock } from "../../store/engine/write-lock.ts";
import { createWriteState, loggedTrouble, type Writes, watchWrites } from "../../store/engine/writes.ts";
import { createMetaStore } from "../../store/node/meta.ts";
import { createSecretCipher } from "../../webhooks/secrets/encryption.ts";
import { encryptSecrets } from "../../webhooks/sqlite/secrets/encrypt-secrets.ts";
import { webhookTokenOf } from "../../webhooks/sqlite/secrets/token.ts";
import type { NodeOptions } from "./options.ts";

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

/** @throws {DataInUseError | ConfigError | DataError} */
export function openDataFolder(
  options: Pick<NodeOptions, "data" | "webhookToken" | "webhookKeyFile" | "webhookOldKeyFile">,
  logger: Logger,
  onStop: Closing["add"],
): DataFolder {
  const lock = lockDataFolder(options.data);
  onStop("data folder", lock.release);
  if (isOpenToAll(options.data)) {
    const remedy = `run chmod 700 ${resolve(options.data)}`;
    logger.warn({ folder: options.data }, `all users of this machine can read the data folder; ${remedy}`);
  }
  const databasePath = join(options.data, "node.sqlite");
  const writeLock = createWriteLockMemory();
  const writeState = createWriteState();
  const writes = watchWrites(writeState, loggedTrouble(logger, resolve(options.data)));
  const database = openDatabase(databasePath, {
    ...{ writeLock: priorityWriteLock(writeLock), writes, makesCheckpoints: false },
  });
  onStop("database", database.close);
  convert(database, databasePath, logger);
  const endCheckpoints = startCheckpoints(DEFAULT_CHECKPOINT_OPTIONS, {
    ...{ database, databasePath },
    onError: (err) => logger.warn({ err }, "failed to copy the write-ahead log into the database; retrying"),
  });
  onStop("checkpoints", endCheckpoints);
  const secretKey = encryptSecrets(database, options);
  const webhookToken = webhookTokenOf(
    options.webhookToken,
    createMetaStore(database),
    createSecretCipher(secretKey),
  );
  const checkpointKey = checkpointKeyOf(options.data);
  return {
    ...{ database, databasePath, writeLock, writeState, writes },
    ...{ secretKey, webhookToken, checkpointKey },
    ...{ lost: lock.lost, describe: lock.describe },
  };
}

/** Brings the schema up to date. Rows of an earlier version are converted in one transaction for each migration. */
function convert(database: Database, path: string, logger: Logger): void {
  const isConverted = isOlder(database, path);
  const startMs = performance.now();
  if (isConverted) {
    logger.info(
      "converting the data folder of an earlier version: a million blocks take 15 s and up to 1 GB of disk space",
    );
  }
  migrate(database, path);
  if (isConverted) {
    const seconds = Math.round((performance.now() - startMs) / 1_000);
    logger.info({ seconds }, "the data folder is converted");
  }
}
