// What a connector is: one value that describes itself (name, modes, settings, capabilities) and opens itself
// for a mode. The registry is a list of such values. A connector of a third party implements this interface
// and nothing else.
import type { Static, TObject } from '@sinclair/typebox';
import type { Effects } from '../kernel/effects.ts';
import type { Mode } from '../kernel/mode.ts';
import type { Connectors, StoragePort } from './ports/index.ts';
import type { CustodyKeys } from './ports/wallets.ts';

/** Everything that a connector can offer. Files are kept in one place for both modes. */
export type Capabilities = Connectors & { storage?: StoragePort | undefined };
export type Capability = keyof Capabilities;

/** What the server lends a connector that it opens. */
export interface ConnectorParts {
  mode: Mode;
  /** Clock and randomness, and the network without a circuit. */
  effects: Effects;
  /** The same with a circuit before the network. Calls to a provider go through this; `name` is for logs. */
  provider(name: string): Effects;
  /** Sealing and derived secrets of this mode; absent where no master key is lent. */
  keys?: CustodyKeys | undefined;
  /** Logs one sentence about a problem. It must hold no credential and no personal data. */
  note(problem: string): void;
}

export interface Connector<Settings extends TObject = TObject> {
  /** The name of its folder. */
  name: string;
  /** One sentence for operators. */
  description: string;
  modes: readonly Mode[];
  /**
   * Its own settings, made with the functions of `kernel/settings.ts`. A connector is not opened where a
   * setting that it requires is absent. Connectors that share a setting have the same schema value for it.
   */
  settings: Settings;
  /** What it offers whenever it is opened. */
  capabilities: readonly Capability[];
  /** What it offers only where a setting or the parts allow it. */
  optional?: readonly Capability[];
  /** Capabilities that any other connector of the mode replaces. */
  fallbackFor?: readonly Capability[];
  /** Sentences about settings that are valid alone and wrong together. They name environment variables. */
  problems?(settings: Partial<Static<Settings>>): string[];
  /** Makes no call to the outside. Throws where a file that a setting names cannot be used. */
  open(parts: ConnectorParts, settings: Static<Settings>): Capabilities;
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
  open(parts: ConnectorParts, settings: Static<Settings>): NoInfer<Offer<Always, Optional>>;
}

/** A connector whose types agree: it opens with the settings of its schema and offers what it declares. */
export const defineConnector = <
  Settings extends TObject,
  const Always extends Capability = never,
  const Optional extends Capability = never,
>(
  connector: Definition<Settings, Always, Optional>,
): Connector<Settings> => connector;
