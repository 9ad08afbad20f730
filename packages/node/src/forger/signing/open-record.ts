/** Opens the signing record of a forger, which also updates the history in the data folder. */
import type { BlockHeader } from "@uniknode/protocol";
import type { Logger } from "pino";
import type { SlotStore } from "../../store/node/slots.ts";
import { openSigningFile } from "./signing-file.ts";
import { recordInDatabase, type SigningRecord } from "./signing-record.ts";

export type RecordDeps = {
  readonly slotStore: SlotStore;
  /** Public keys of the delegates of this node. */
  readonly publicKeys: Iterable<string>;
  readonly nethash: string;
  readonly headerById: (id: string) => BlockHeader | undefined;
  readonly logger: Logger;
};

export type OpenRecord = SigningRecord & { readonly close: () => void };

/**
 * @param path of the record; absent: the database of the data folder is the record
 * @throws {SigningRecordError}
 */
export function openRecord(path: string | undefined, deps: RecordDeps): OpenRecord {
  const { slotStore, nethash, headerById, logger } = deps;
  if (path === undefined) return { ...recordInDatabase(slotStore), close: () => {} };
  const known = [...deps.publicKeys].flatMap((publicKey) => {
    const last = slotStore.forgedBy(publicKey);
    return last ? [{ publicKey, ...last, height: headerById(last.blockId)?.height ?? 0 }] : [];
  });
  const file = openSigningFile(path, { nethash, known });
  if (file.isNew && known.length > 0) {
    logger.warn(
      { path: file.path, slots: known.map(({ slot }) => slot) },
      "signing record missing: created from the data folder, which may be older than the last signed block",
    );
  } else {
    logger.info({ path: file.path, isNew: file.isNew }, "signing record opened");
  }
  return {
    lastSigned: file.lastSigned,
    add(signing) {
      file.add(signing);
      // History only: the file has it on disk, so that the database need not wait for the disk.
      slotStore.recordForged(signing.publicKey, signing.slot, signing.blockId, "process death");
    },
    close: file.close,
  };
}
