// Resources of an installation that the operator API and the operator's command use.
import type { Connectors, FundingPort } from '../connectors/ports/index.ts';
import type { transitionAccount } from '../features/balances/internal-accounts/index.ts';
import type { AllPersonalData } from '../features/customers/privacy/index.ts';
import type { BuiltInProvider, ProviderDirectory } from '../features/providers/index.ts';
import type { RetentionDeps } from '../features/retention/index.ts';
import type { NewPlatform } from '../features/tenancy/administration/index.ts';
import { MODES, type Mode } from '../kernel/mode.ts';
import type { RowStream } from '../runtime/db/stream.ts';
import type { Files } from '../runtime/files/files.ts';
import type { Ctx } from '../runtime/operation/context.ts';
import type { Runtime } from '../runtime/operation/operate.ts';

export interface Installation {
  runtime: Runtime;
  /** Clients' files, in the installation's storage. */
  files: Files;
  connectorsOf(environment: Mode): Connectors;
  /** Provider of the funding details of an environment, or undefined without such a connector. */
  fundingOf(environment: Mode): FundingPort | undefined;
  /** Waiting period of a wallet recovery. Undefined if recovery is disabled. */
  walletRecoveryMs: number | undefined;
  /**
   * Rows of one statement and one snapshot, in chunks, for output that does not fit into memory.
   */
  stream: RowStream;
  /** The providers and routes of this installation. */
  providers(): Promise<ProviderDirectory>;
  /** The connectors that are part of the server. */
  builtIn(): readonly BuiltInProvider[];
  /** Retention of events and requests, and where they are archived. */
  retention: RetentionDeps;
}

interface CreatedPlatform {
  platformId: string;
  tokenId: string;
  clientId: string;
  clientSecret: string;
}

/** Functions that use features of several wings. */
export interface Provisioning {
  /** Descriptions of the personal data of all features. */
  personalData: AllPersonalData;
  /** Creates a platform, its accounts and a token with all permissions. */
  createPlatform(runtime: Runtime, input: NewPlatform): Promise<CreatedPlatform>;
  /** Stages the accounts of a platform in added currencies. */
  openAccounts(ctx: Ctx, currencies: readonly string[]): Promise<void>;
  /** Dependencies of account transitions on later wings. */
  accountPorts: Omit<Parameters<typeof transitionAccount>[0], 'runtime'>;
}

/** The public keys that verify bundles and tokens, by environment. Empty without a custodian. */
export const custodyKeys = (connectorsOf: (environment: Mode) => Pick<Connectors, 'custody'>) =>
  MODES.flatMap((environment) => {
    const { custody } = connectorsOf(environment);
    return custody ? [{ environment, ...custody.publicKeys() }] : [];
  });

/** State of the process that replies to a request. */
export interface ProcessState {
  /** Number among the processes that share a port, or undefined if it is the only one. */
  number: number | undefined;
  roles: readonly string[];
  /** Circuits of providers by name. */
  circuits(): ReadonlyMap<string, string>;
  /** Connections of the committer, and change sets that wait for one. */
  committer(): { lanes: number; waiting: number };
}
