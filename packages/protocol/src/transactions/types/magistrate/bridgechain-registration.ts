/** 2/3 registration of a bridgechain (transactions.md 6.4). */
import { assetMember } from "../../asset.ts";
import { TYPE_GROUPS } from "../../type-groups.ts";
import { hashText, record } from "../members.ts";
import type { TransactionType } from "../type.ts";
import { genericName, magistrateSchema, ports, seedNodes, uri } from "./members.ts";
import { readPorts, writePorts } from "./ports.ts";
import { readText, readTexts, writeOptionalText, writeText, writeTexts } from "./texts.ts";

export const bridgechainRegistration: TransactionType = {
  typeGroup: TYPE_GROUPS.magistrate,
  type: 3,
  key: "bridgechainRegistration",
  schema: magistrateSchema(
    record({
      bridgechainRegistration: record(
        {
          name: genericName,
          seedNodes,
          genesisHash: hashText,
          bridgechainRepository: uri,
          bridgechainAssetRepository: uri,
          ports,
        },
        ["name", "seedNodes", "genesisHash", "bridgechainRepository", "ports"],
      ),
    }),
  ),
  write({ asset }, writer) {
    const bridgechain = assetMember(asset, "bridgechainRegistration");
    writeText(bridgechain.name, writer);
    writeTexts(bridgechain.seedNodes, writer);
    writer.hex(bridgechain.genesisHash, 32);
    writeText(bridgechain.bridgechainRepository, writer);
    writeOptionalText(bridgechain.bridgechainAssetRepository, writer);
    writePorts(bridgechain.ports, writer);
  },
  read(reader) {
    const name = readText(reader);
    const seedNodes = readTexts(reader);
    const genesisHash = reader.hex(32);
    const bridgechainRepository = readText(reader);
    const bridgechainAssetRepository = readText(reader);
    const bridgechainRegistration = {
      name,
      seedNodes,
      genesisHash,
      bridgechainRepository,
      ...(bridgechainAssetRepository && { bridgechainAssetRepository }),
      ports: readPorts(reader),
    };
    return { asset: { bridgechainRegistration } };
  },
  staticFee: () => 5_000_000_000n,
};
