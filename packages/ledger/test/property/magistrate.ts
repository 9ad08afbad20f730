/** Proposals of businesses, bridgechains and entities. */
import { staticFee } from "@uniknode/protocol";
import { digest, network, type Proposer, proposal, someone, type World, walletOfActor } from "./world.ts";

const website = "https://acme.example";
const PORTS = { "@arkecosystem/core-api": 4003 };

const anyName = ({ random }: World): string => `Name${random.below(8)}`;

/** An account with a registered business. */
const businessOwner = (world: World): string =>
  someone(world, ({ attributes }) => !!attributes.business && !attributes.business.resigned);

const businessRegistration: Proposer = (world) =>
  proposal(
    someone(world, ({ attributes }) => !attributes.business),
    { businessRegistration: { name: anyName(world), website } },
  );

const businessResignation: Proposer = (world) => proposal(businessOwner(world));

const businessUpdate: Proposer = (world) =>
  proposal(businessOwner(world), { businessUpdate: { vat: `1234567${world.random.below(10)}` } });

const bridgechainRegistration: Proposer = (world) =>
  proposal(businessOwner(world), {
    bridgechainRegistration: {
      name: anyName(world),
      seedNodes: ["1.2.3.4"],
      genesisHash: digest(`genesis ${world.random.below(6)}`),
      bridgechainRepository: website,
      ports: world.random.oneIn(8) ? { ...PORTS, "Bad Name": 1 } : PORTS,
    },
  });

/** Bridgechain of some business, if there is one. */
function someBridgechain(world: World): { sender: string; bridgechainId: string } {
  const sender = someone(world, ({ attributes }) => attributes.business?.bridgechains !== undefined);
  const ids = Object.keys(walletOfActor(world, sender).attributes.business?.bridgechains ?? {});
  return { sender, bridgechainId: ids.length > 0 ? world.random.pick(ids) : digest("none") };
}

const bridgechainResignation: Proposer = (world) => {
  const { sender, bridgechainId } = someBridgechain(world);
  return proposal(sender, { bridgechainResignation: { bridgechainId } });
};

const bridgechainUpdate: Proposer = (world) => {
  const { sender, bridgechainId } = someBridgechain(world);
  const seedNodes = [`1.2.3.${1 + world.random.below(9)}`];
  return proposal(sender, { bridgechainUpdate: { bridgechainId, seedNodes } });
};

const entity: Proposer = (world) => {
  const action = world.random.below(3);
  const sender = someone(world, ({ attributes }) => action === 0 || attributes.entities !== undefined);
  const [id, known] = Object.entries(walletOfActor(world, sender).attributes.entities ?? {}).at(-1) ?? [];
  const asset = {
    type: known && action > 0 ? known.type : world.random.below(5),
    subType: 0,
    action,
    ...(action > 0 && { registrationId: id ?? digest("none") }),
    data: action === 0 ? { name: anyName(world) } : action === 1 ? { ipfsData: "Qm" } : {},
  };
  const body = { version: 2, network: 30, typeGroup: 2, type: 6, senderPublicKey: "", fee: 0n, amount: 0n };
  const fee = staticFee({ ...body, asset }, network.milestoneAt(world.height));
  return proposal(sender, asset, { fee });
};

export const magistrateProposers: Readonly<Record<string, Proposer>> = {
  "2/0": businessRegistration,
  "2/1": businessResignation,
  "2/2": businessUpdate,
  "2/3": bridgechainRegistration,
  "2/4": bridgechainResignation,
  "2/5": bridgechainUpdate,
  "2/6": entity,
};
