/** 2/3, 2/4 and 2/5: registration, resignation and change of a bridgechain (transactions.md 6.4). */
import type { ByteReader, ByteWriter } from "../../../bytes/cursor.ts";
import { assetMember } from "../../asset.ts";
import { TYPE_GROUPS } from "../../type-groups.ts";
import { hashText, record } from "../members.ts";
import { addProperty } from "../properties.ts";
import type { TransactionType } from "../type.ts";
import { genericName, magistrateSchema, ports, seedNodes, uri } from "./members.ts";
import { readText, readTexts, writeOptionalText, writeText, writeTexts } from "./texts.ts";

/** Ports by package name in the order of transactions.md 11. */
function writePorts(ports: Record<string, number>, writer: ByteWriter): void {
  const entries = Object.entries(ports);
  writer.u8(entries.length);
  for (const [name, port] of entries) {
    writeText(name, writer);
    writer.u16(port);
  }
}

function readPorts(reader: ByteReader): Record<string, number> {
  const ports: Record<string, number> = {};
  const count = reader.u8();
  for (let i = 0; i < count; i++) {
    const name = readText(reader);
    addProperty(ports, name, reader.u16());
  }
  return ports;
}

const bridgechainRegistration: TransactionType = {
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

const bridgechainResignation: TransactionType = {
  typeGroup: TYPE_GROUPS.magistrate,
  type: 4,
  key: "bridgechainResignation",
  schema: magistrateSchema(record({ bridgechainResignation: record({ bridgechainId: hashText }) })),
  write: ({ asset }, writer) => writer.hex(assetMember(asset, "bridgechainResignation").bridgechainId, 32),
  read: (reader) => ({ asset: { bridgechainResignation: { bridgechainId: reader.hex(32) } } }),
  staticFee: () => 5_000_000_000n,
};

const changes = { seedNodes, ports, bridgechainRepository: uri, bridgechainAssetRepository: uri };

const bridgechainUpdate: TransactionType = {
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

/** Types 3 to 5 of group 2. */
export const bridgechainTypes: readonly TransactionType[] = [
  bridgechainRegistration,
  bridgechainResignation,
  bridgechainUpdate,
];
