/** 2/5 change of a bridgechain (transactions.md 6.4). */
import { assetMember } from "../../asset.ts";
import { TYPE_GROUPS } from "../../type-groups.ts";
import { hashText, record } from "../members.ts";
import type { TransactionType } from "../type.ts";
import { magistrateSchema, ports, seedNodes, uri } from "./members.ts";
import { readPorts, writePorts } from "./ports.ts";
import { readText, readTexts, writeOptionalText, writeTexts } from "./texts.ts";

const changes = { seedNodes, ports, bridgechainRepository: uri, bridgechainAssetRepository: uri };

export const bridgechainUpdate: TransactionType = {
  typeGroup: TYPE_GROUPS.magistrate,
  type: 5,
  key: "bridgechainUpdate",
  schema: magistrateSchema(
    record({
      bridgechainUpdate: {
        ...record({ bridgechainId: hashText, ...changes }, ["bridgechainId"]),
        anyOf: Object.keys(changes).map((member) => ({ required: [member] })),
      },
    }),
  ),
  write({ asset }, writer) {
    const bridgechain = assetMember(asset, "bridgechainUpdate");
    writer.hex(bridgechain.bridgechainId, 32);
    writeTexts(bridgechain.seedNodes ?? [], writer);
    writePorts(bridgechain.ports ?? {}, writer);
    writeOptionalText(bridgechain.bridgechainRepository, writer);
    writeOptionalText(bridgechain.bridgechainAssetRepository, writer);
  },
  read(reader) {
    const bridgechainId = reader.hex(32);
    const seedNodes = readTexts(reader);
    const hasPorts = reader.peek() !== 0;
    const ports = readPorts(reader);
    const bridgechainRepository = readText(reader);
    const bridgechainAssetRepository = readText(reader);
    const bridgechainUpdate = {
      bridgechainId,
      ...(seedNodes.length > 0 && { seedNodes }),
      ...(hasPorts && { ports }),
      ...(bridgechainRepository && { bridgechainRepository }),
      ...(bridgechainAssetRepository && { bridgechainAssetRepository }),
    };
    return { asset: { bridgechainUpdate } };
  },
  staticFee: () => 5_000_000_000n,
};
