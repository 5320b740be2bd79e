// The list of connectors, and the values derived from it: the capabilities of each mode, the file
// storage, and the settings of the server. The sandbox never serves a production platform. A
// capability without a connector in a mode is unavailable. Two connectors for one capability are an
// error at the start, unless one is a fallback.

import type { Static, TObject } from '@sinclair/typebox';
import { fieldErrors } from '../kernel/contract/validate.ts';
import type { Effects } from '../kernel/effects.ts';
import { MODES, type Mode } from '../kernel/mode.ts';
import {
  incompleteSettings,
  isComplete,
  readSettings,
  type SettingLeaf,
  settingsIn,
} from '../kernel/settings.ts';
import { type Circuits, createCircuits } from '../runtime/jobs/circuits.ts';
import type { SealedColumn } from '../runtime/security/sealed-columns.ts';
import type { Vault } from '../runtime/security/vault.ts';
import { bridge } from './bridge/index.ts';
import type { Capabilities, Capability, Connector, ConnectorContext } from './connector.ts';
import { evm } from './evm/index.ts';
import { folder } from './folder/index.ts';
import { local } from './local/index.ts';
import { manual } from './manual/index.ts';
import { oidc } from './oidc/index.ts';
import type { Connectors, StoragePort } from './ports/index.ts';
import type { CustodyKeys } from './ports/wallets.ts';
import { s3 } from './s3/index.ts';
import { numberContext } from './sandbox/cards/card-numbers.ts';
import { sandbox } from './sandbox/index.ts';
import { seedContextOf, signerContext, targetContext } from './signer/custody.ts';
import { signer } from './signer/index.ts';
import { sms } from './sms/index.ts';
import { smtp } from './smtp/index.ts';

const BUILT_IN = [
  ...([manual, bridge, evm, smtp, sms, oidc] as const),
  ...([local, signer, sandbox, folder, s3] as const),
] as const;

/** All connectors, in the order in which help lists their settings. */
export const CONNECTORS: readonly Connector[] = BUILT_IN;

type SettingsOf<C> = C extends { settings: infer S extends TObject } ? Static<S> : never;
type UnionToIntersection<Union> = (Union extends unknown ? (each: Union) => void : never) extends (
  intersection: infer Intersection,
) => void
  ? Intersection
  : never;
type ValuesOfAll = UnionToIntersection<SettingsOf<(typeof BUILT_IN)[number]>>;
/** Settings of all connectors, by their schema names. */
export type ConnectorValues = { [Name in keyof ValuesOfAll]?: ValuesOfAll[Name] | undefined };

/** Storage of files. */
export type StorageSettings = Pick<ConnectorValues, 's3'> & { folder: string };

/** Configuration of connectors by the operator. */
export interface ConnectorSettings extends Omit<ConnectorValues, keyof StorageSettings> {
  /** Keys of the built-in wallet custodian. Absent: no built-in custodian. */
  custodyKeys?: CustodyKeys | undefined;
  /**
   * Production connectors of the program that starts the server. These connectors replace those of
   * the list.
   */
  production?: Pick<Connectors, 'issuer' | 'mint'> | undefined;
  /** Circuit breakers for calls to providers. Default: circuits of the registry. */
  circuits?: Circuits | undefined;
  /** Receives a description of each problem with rates, identity checks or identity tokens. */
  reportProblem?: ((problem: string) => void) | undefined;
}

/** The custodian's part of the installation's vault. */
export const custodyKeysOf = ({ sealOwn, openOwn, derive }: Vault): CustodyKeys => ({
  seal: sealOwn,
  open: openOwn,
  derive,
});

const contextsOfModes = (contextOf: (id: string) => string) => (id: string) =>
  MODES.map((mode) => `${mode} ${contextOf(id)}`);

/** Columns whose values the built-in custodian and the sandbox seal. */
export const CUSTODY_COLUMNS: readonly SealedColumn[] = [
  {
    table: 'wallets',
    column: 'seed',
    contextColumn: 'wallet_id',
    contexts: contextsOfModes(seedContextOf),
  },
  {
    table: 'otp_targets',
    column: 'target',
    contextColumn: 'code_id',
    contexts: contextsOfModes(targetContext),
  },
  { table: 'delegated_keys', column: 'signer', contexts: contextsOfModes(signerContext) },
  { table: 'cards', column: 'secret', contexts: contextsOfModes(numberContext) },
];

/** Keys of a mode. Values that are sealed in one mode cannot be opened in the other. */
const keysOfMode = (mode: Mode, { seal, open, derive }: CustodyKeys): CustodyKeys => ({
  seal: (text, context) => seal(text, `${mode} ${context}`),
  open: (sealedText, context) => open(sealedText, `${mode} ${context}`),
  derive: (purpose) => derive(`${mode} ${purpose}`),
});

/** Settings of connectors without duplicates. */
export function connectorSettings(
  connectors: readonly Connector[] = CONNECTORS,
): readonly SettingLeaf[] {
  const leaves = connectors.flatMap(({ settings }) => settingsIn(settings));
  return leaves.filter(({ env }, index) => leaves.findIndex((each) => each.env === env) === index);
}

/** Values of all connectors, parsed from environment variables. */
export const readConnectorSettings = (
  texts: ReadonlyMap<string, string>,
  base: string,
): ConnectorValues =>
  Object.assign({}, ...CONNECTORS.map(({ settings }) => readSettings(settings, texts, base)));

/** Problems of settings that are individually valid. */
export const settingConflicts = (texts: ReadonlyMap<string, string>): string[] =>
  CONNECTORS.flatMap(({ settings, problems }) => [
    ...(problems?.(readSettings(settings, texts, '/')) ?? []),
    ...incompleteSettings(settings, (env) => texts.has(env)),
  ]);

type Values = Readonly<Record<string, unknown>>;

/** The values of a connector's settings, with their defaults. */
function ownSettings({ settings }: Connector, connectorValues: Values): Values {
  const entries = Object.entries(settings.properties).flatMap(([name, property]) => {
    const value = connectorValues[name] ?? property.default;
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(entries);
}

/** Problems of a connector's settings, by environment variable. */
function valueProblems({ settings, problems }: Connector, values: Values): string[] {
  const leaves = new Map(settingsIn(settings).map((each) => [each.path.join('.'), each.env]));
  const errors = fieldErrors(settings, values, 'body').map(
    ({ field, message }) => `${leaves.get(field) ?? field} ${message}.`,
  );
  return errors.length ? errors : (problems?.(values) ?? []);
}

const namesIn = (offer: Capabilities): Capability[] =>
  (Object.keys(offer) as Capability[]).filter((name) => offer[name] !== undefined);

interface OpenedConnector {
  connector: Connector;
  offer: Capabilities;
}

/** A capability that a connector does not declare would be undocumented and untested. */
const undeclaredCapabilities = ({ connector, offer }: OpenedConnector): string[] =>
  namesIn(offer)
    .filter(
      (name) =>
        ![connector.capabilities, connector.optional].some((names) => names?.includes(name)),
    )
    .map((name) => `The connector ${connector.name} offers ${name} without declaring it.`);

/** A capability, and the connector that serves it. */
interface ServedCapability {
  name: Capability;
  connector: Connector;
  offer: Capabilities;
}

/** One offer for each capability: from a regular connector, or else from a fallback. */
function mergeOffers(mode: Mode, openedConnectors: readonly OpenedConnector[]): ServedCapability[] {
  const problems = openedConnectors.flatMap(undeclaredCapabilities);
  const offeredCapabilities = openedConnectors.flatMap((each) =>
    namesIn(each.offer).map((name) => ({ name, ...each })),
  );
  const isFallback = ({ name, connector }: (typeof offeredCapabilities)[number]) =>
    connector.fallbackFor?.includes(name) ?? false;
  const chosenCapabilities = [...new Set(offeredCapabilities.map(({ name }) => name))].flatMap(
    (name) => {
      const candidates = offeredCapabilities.filter((each) => each.name === name);
      const regularCandidates = candidates.filter((each) => !isFallback(each));
      const [firstCandidate, secondCandidate] = regularCandidates.length
        ? regularCandidates
        : candidates;
      if (firstCandidate && secondCandidate) {
        const names = `${firstCandidate.connector.name} and ${secondCandidate.connector.name}`;
        problems.push(
          `The connectors ${names} both offer ${name} in ${mode}. Configure one of them.`,
        );
      }
      return firstCandidate ? [firstCandidate] : [];
    },
  );
  if (problems.length) throw new Error(problems.join('\n'));
  return chosenCapabilities;
}

const capabilitiesOf = (servedCapabilities: readonly ServedCapability[]): Capabilities =>
  Object.fromEntries(servedCapabilities.map(({ name, offer }) => [name, offer[name]]));

/** The capabilities of a mode. Throws one error that names every unusable setting. */
export const openConnectors = (
  connectors: readonly Connector[],
  context: ConnectorContext,
  settings: Values,
): Capabilities => capabilitiesOf(openServedCapabilities(connectors, context, settings));

function openServedCapabilities(
  connectors: readonly Connector[],
  context: ConnectorContext,
  settings: Values,
): ServedCapability[] {
  const configuredConnectors = connectors
    .filter(({ modes }) => modes.includes(context.mode))
    .map((connector) => ({ connector, values: ownSettings(connector, settings) }))
    .filter(({ connector, values }) => isComplete(connector.settings, values));
  const problems = configuredConnectors.flatMap((each) =>
    valueProblems(each.connector, each.values),
  );
  if (problems.length) throw new Error([...new Set(problems)].join('\n'));
  const openedConnectors = configuredConnectors.map(({ connector, values }) => ({
    connector,
    offer: connector.open(context, values) as Capabilities,
  }));
  return mergeOffers(context.mode, openedConnectors);
}

/** Both modes share one storage, so it is opened once. */
const isStorage = ({ capabilities }: Connector) => capabilities.includes('storage');

/** A connector that is part of the server, in an environment. */
export interface BuiltInConnector {
  name: string;
  environment: Mode;
  description: string;
  /** Capabilities that the connector serves. */
  serves: readonly string[];
}

/** The capabilities of each mode. */
export interface ConnectorRegistry {
  (environment: Mode): Connectors;
  /** The connectors that serve at least one capability, without the connectors for files. */
  builtIn(): BuiltInConnector[];
}

const describeServed = (
  environment: Mode,
  servedCapabilities: readonly ServedCapability[],
): BuiltInConnector[] =>
  [...new Set(servedCapabilities.map(({ connector }) => connector))].map((connector) => ({
    name: connector.name,
    environment,
    description: connector.description,
    serves: servedCapabilities.flatMap((each) => (each.connector === connector ? [each.name] : [])),
  }));

/** The capabilities of both modes. Throws if a file that a setting names cannot be used. */
export function connectorRegistry(
  effects: Effects,
  settings: ConnectorSettings = {},
): ConnectorRegistry {
  const { custodyKeys, production, reportProblem = () => {}, ...values } = settings;
  const circuits = settings.circuits ?? createCircuits(() => effects.now());
  const providers = CONNECTORS.filter((each) => !isStorage(each));
  const serveMode = (mode: Mode): ServedCapability[] => {
    const provider = (name: string) => circuits.effects(effects, name);
    const keys = custodyKeys && keysOfMode(mode, custodyKeys);
    return openServedCapabilities(
      providers,
      { mode, effects, provider, keys, reportProblem },
      { ...values },
    );
  };
  const servedByMode: Record<Mode, ServedCapability[]> = {
    sandbox: serveMode('sandbox'),
    production: serveMode('production'),
  };
  const connectorsByMode: Record<Mode, Connectors> = {
    sandbox: capabilitiesOf(servedByMode.sandbox),
    production: { ...capabilitiesOf(servedByMode.production), ...production },
  };
  return Object.assign((environment: Mode) => connectorsByMode[environment], {
    builtIn: () => MODES.flatMap((mode) => describeServed(mode, servedByMode[mode])),
  });
}

/** The storage of both modes. `effects` includes the circuit breaker. */
export function storageOf(effects: Effects, settings: StorageSettings): StoragePort {
  const context = {
    mode: 'production' as const,
    effects,
    provider: () => effects,
    reportProblem: () => {},
  };
  const { storage } = openConnectors(CONNECTORS.filter(isStorage), context, { ...settings });
  if (!storage) throw new Error('No connector stores files. Set RAILHEAD_FILES_DIR.');
  return storage;
}
