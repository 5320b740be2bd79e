// Which connectors serve which environment. A production platform is never served by the sandbox: what no
// connector offers is not offered. Production has the manual rail always, because it needs nothing but an
// operator; rates and collection accounts are there once a setting names their source.
import { PaymentInstructions } from '../catalog/rails/payment-instructions.ts';
import { fieldErrors } from '../kernel/contract/validate.ts';
import type { World } from '../kernel/world.ts';
import { type Circuits, createCircuits } from '../runtime/jobs/circuits.ts';
import type { Environment } from '../runtime/operation/context.ts';
import type { Vault } from '../runtime/security/vault.ts';
import { httpIdentity } from './bridge/identity.ts';
import { contractWallets } from './evm/contract-wallets.ts';
import { folderStorage } from './folder/storage.ts';
import { localDocuments } from './local/documents.ts';
import { readCollection } from './manual/collection.ts';
import { manualFunding } from './manual/funding.ts';
import { manualRail } from './manual/rail.ts';
import { fileRates, httpRates } from './manual/rates.ts';
import { httpOidc } from './oidc/tokens.ts';
import type { Connectors, FundingPort, RatePort, StoragePort } from './ports/index.ts';
import { type S3Settings, s3Storage } from './s3/storage.ts';
import { cardNumbers } from './sandbox/cards/card-numbers.ts';
import { sandboxIssuer } from './sandbox/cards/issuer.ts';
import { sandboxDocuments } from './sandbox/identity/documents.ts';
import { sandboxIdentity } from './sandbox/identity/identity.ts';
import { sandboxLiveness } from './sandbox/identity/liveness.ts';
import { sandboxOidc, sandboxWalletScript } from './sandbox/identity/wallets.ts';
import { sandboxFunding } from './sandbox/payments/funding.ts';
import { sandboxPaymentFunding } from './sandbox/payments/funding-payment.ts';
import { sandboxNames } from './sandbox/payments/names.ts';
import { sandboxNetworkFees } from './sandbox/payments/network-fees.ts';
import { sandboxRail } from './sandbox/payments/rail.ts';
import { sandboxRates } from './sandbox/payments/rates.ts';
import { sandboxMint } from './sandbox/stablecoins/mint.ts';
import { sandboxUma } from './sandbox/uma/uma.ts';
import { type CustodyKeys, localCustody } from './signer/custody.ts';
import { smsBridge } from './sms/bridge.ts';
import { smtpMail } from './smtp/mail.ts';

/** Where the sandbox's scripted UMA addresses live unless a setting says otherwise. */
const SANDBOX_UMA_DOMAIN = 'sandbox.uma.money';

/** What connects platforms to the outside, as the operator set it. */
export interface ConnectorSettings {
  sandboxUmaDomain?: string | undefined;
  /** A service that answers with a table of rates; at most one of the two. */
  ratesUrl?: string | undefined;
  ratesFile?: string | undefined;
  /** A day unless said otherwise. */
  ratesMaxAgeMs?: number | undefined;
  /** The operator's collection accounts. */
  fundingFile?: string | undefined;
  /** Nodes to ask about wallets that are contracts, by chain: `ETHEREUM`. */
  rpcUrls?: Readonly<Record<string, string>> | undefined;
  /** The operator's own service that decides about customers; without it an operator does, by hand. */
  identityUrl?: string | undefined;
  /** The mail server, and who e-mail is from; both or neither. */
  smtpUrl?: string | undefined;
  mailFrom?: string | undefined;
  /** The service that text messages are posted to. */
  smsUrl?: string | undefined;
  /** Identity providers whose tokens are taken beside those that always are. */
  oidcIssuers?: readonly string[] | undefined;
  /** What the built-in custodian of wallets seals and signs with; without it wallets have no custodian. */
  custodyKeys?: CustodyKeys | undefined;
  /** What the program that starts the server connects production with by itself. */
  production?: Pick<Connectors, 'issuer' | 'mint'> | undefined;
  /** What guards the calls to each provider; circuits of its own unless given. */
  circuits?: Circuits | undefined;
  /** Told what is wrong with a source while the server runs. */
  note?: ((problem: string) => void) | undefined;
}

const DAY_MS = 86_400_000;

/** The network as a provider's connector sees it. */
type Doors = (provider: string) => World;

function ratesOf(door: Doors, world: World, settings: ConnectorSettings): RatePort | undefined {
  const { ratesUrl, ratesFile, ratesMaxAgeMs: maxAgeMs = DAY_MS, note = () => {} } = settings;
  if (ratesUrl) return httpRates(door('rates'), ratesUrl, { maxAgeMs, note });
  return ratesFile ? fileRates(world, ratesFile, { maxAgeMs, note }) : undefined;
}

function fundingOf({ fundingFile }: ConnectorSettings): FundingPort | undefined {
  if (!fundingFile) return undefined;
  const judge = (value: unknown) => fieldErrors(PaymentInstructions, value, 'body');
  return manualFunding(readCollection(fundingFile, judge));
}

const identityOf = (door: Doors, { identityUrl, note = () => {} }: ConnectorSettings) =>
  identityUrl ? { identity: httpIdentity(door('identity'), identityUrl, note) } : {};

/** In the sandbox there are none: what would be sent is kept for the operator to read. */
const messengersOf = (door: Doors, { smtpUrl, mailFrom, smsUrl }: ConnectorSettings) => ({
  ...(smtpUrl && mailFrom
    ? { mail: smtpMail(door('smtp'), { url: smtpUrl, from: mailFrom }) }
    : {}),
  ...(smsUrl ? { sms: smsBridge(door('sms'), smsUrl) } : {}),
});

/** What an installation's vault lends its custodian. */
export const custodyKeysOf = ({ sealOwn, openOwn, derive }: Vault): CustodyKeys => ({
  seal: sealOwn,
  open: openOwn,
  derive,
});

/** The keys of an environment: what one sealed does not open in the other, and they sign apart. */
const keysIn = (environment: Environment, { seal, open, derive }: CustodyKeys): CustodyKeys => ({
  seal: (text, context) => seal(text, `${environment} ${context}`),
  open: (sealed, context) => open(sealed, `${environment} ${context}`),
  derive: (purpose) => derive(`${environment} ${purpose}`),
});

/** Wallets of the sandbox hold nothing, and their export bundles say so: nobody answers for them. */
const custodyOf = (environment: Environment, world: World, { custodyKeys }: ConnectorSettings) =>
  custodyKeys && {
    custody: localCustody(world, keysIn(environment, custodyKeys), {
      attests: environment === 'production',
    }),
  };

/** Cards of the sandbox have numbers of a range that networks keep for tests. */
const issuingOf = (world: World, { custodyKeys }: ConnectorSettings) =>
  custodyKeys && { issuer: sandboxIssuer(cardNumbers(world, keysIn('sandbox', custodyKeys))) };

/** The connectors of both environments. Throws where a file that a setting names cannot be used. */
export function connectorRegistry(
  world: World,
  settings: ConnectorSettings = {},
): (environment: Environment) => Connectors {
  const circuits = settings.circuits ?? createCircuits(() => world.now());
  const door: Doors = (provider) => circuits.world(world, provider);
  // Without a circuit: clients choose the contract that is called, so a call without an answer says nothing
  // about the node, and one client's contract must not keep the others' from being asked about.
  const contracts = contractWallets(world, settings.rpcUrls ?? {});
  const serving: Record<Environment, Connectors> = {
    sandbox: {
      rail: sandboxRail,
      names: sandboxNames,
      rates: sandboxRates(world.now),
      funding: { ...sandboxFunding, forPayment: sandboxPaymentFunding },
      identity: sandboxIdentity,
      networkFees: sandboxNetworkFees,
      uma: sandboxUma(settings.sandboxUmaDomain ?? SANDBOX_UMA_DOMAIN),
      liveness: sandboxLiveness,
      contractWallets: contracts,
      documents: sandboxDocuments,
      oidc: sandboxOidc(settings.oidcIssuers ?? []),
      walletScript: sandboxWalletScript,
      mint: sandboxMint(world.now),
      ...custodyOf('sandbox', world, settings),
      ...issuingOf(world, settings),
    },
    production: {
      rail: manualRail,
      rates: ratesOf(door, world, settings),
      funding: fundingOf(settings),
      contractWallets: contracts,
      documents: localDocuments,
      ...identityOf(door, settings),
      ...custodyOf('production', world, settings),
      ...messengersOf(door, settings),
      oidc: httpOidc(door('oidc'), { issuers: settings.oidcIssuers ?? [], note: settings.note }),
      ...settings.production,
    },
  };
  return (environment) => serving[environment];
}

/** Where files are kept. */
export interface StorageSettings {
  /** Absolute. With a bucket only files on their way to it are here. */
  folder: string;
  s3?: S3Settings | undefined;
}

/** The storage that serves both environments. */
export const storageOf = (world: World, { folder, s3 }: StorageSettings): StoragePort =>
  s3 ? s3Storage(world, s3, folder) : folderStorage(folder);
