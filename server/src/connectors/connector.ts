// A connector is one value: its name, modes, settings and capabilities, and the function that opens
// it for a mode. The registry is a list of such values. A third-party connector implements this
// interface.
import type { Static, TObject } from '@sinclair/typebox';
import type { Effects } from '../kernel/effects.ts';
import type { Mode } from '../kernel/mode.ts';
import type { Connectors, StoragePort } from './ports/index.ts';
import type { CustodyKeys } from './ports/wallets.ts';

/** Capabilities of connectors. Both modes share the storage of files. */
export type Capabilities = Connectors & { storage?: StoragePort | undefined };
export type Capability = keyof Capabilities;

/** Resources that the server provides to a connector when opening it. */
export interface ConnectorContext {
  mode: Mode;
  /** Clock, randomness, and the network without a circuit breaker. */
  effects: Effects;
  /**
   * As `effects`, with a circuit breaker for the network, for calls to a provider. `name` is for
   * logs.
   */
  provider(name: string): Effects;
  /** Sealing and derived secrets of this mode. Absent without a master key. */
  keys?: CustodyKeys | undefined;
  /** Logs one sentence about a problem, without credentials and personal data. */
  reportProblem(problem: string): void;
}

export interface Connector<Settings extends TObject = TObject> {
  /** Name of its folder. */
  name: string;
  /** Description for operators. */
  description: string;
  modes: readonly Mode[];
  /**
   * Settings of the connector, defined with the functions of `kernel/settings.ts`. A connector is
   * not opened if a required setting is absent. Connectors that share a setting use the same schema
   * value.
   */
  settings: Settings;
  /** Capabilities that the connector always has. */
  capabilities: readonly Capability[];
  /** Capabilities that depend on a setting or on the resources that the server provides. */
  optional?: readonly Capability[];
  /** Capabilities that any other connector of the mode replaces. */
  fallbackFor?: readonly Capability[];
  /**
   * Problems of settings that are individually valid. Each problem names the environment variables.
   */
  problems?(settings: Partial<Static<Settings>>): string[];
  /**
   * Opens the connector without an external call. Throws if a file that a setting names cannot be
   * used.
   */
  open(context: ConnectorContext, settings: Static<Settings>): Capabilities;
}

type Offer<Always extends Capability, Optional extends Capability> = {
  [Name in Always]: NonNullable<Capabilities[Name]>;
} & { [Name in Optional]?: Capabilities[Name] | undefined };

interface Definition<
  Settings extends TObject,
  Always extends Capability,
  Optional extends Capability,
> extends Connector<Settings> {
  capabilities: readonly Always[];
  optional?: readonly Optional[];
  fallbackFor?: readonly NoInfer<Always | Optional>[];
  open(context: ConnectorContext, settings: Static<Settings>): NoInfer<Offer<Always, Optional>>;
}

/** Defines a connector. The compiler checks `open` against its settings and capabilities. */
export const defineConnector = <
  Settings extends TObject,
  const Always extends Capability = never,
  const Optional extends Capability = never,
>(
  connector: Definition<Settings, Always, Optional>,
): Connector<Settings> => connector;
