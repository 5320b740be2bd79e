// The list of connectors, and what follows from it: the capabilities of each mode, the storage of files, and
// the settings that the server reads. A production platform is never served by the sandbox: a capability that
// no connector of a mode offers is not offered. Two connectors for one capability are an error at the start.

import type { Static, TObject } from '@sinclair/typebox';
import { fieldErrors } from '../kernel/contract/validate.ts';
import type { Effects } from '../kernel/effects.ts';
import type { Mode } from '../kernel/mode.ts';
import {
  incompleteSettings,
  isComplete,
  readSettings,
  type SettingLeaf,
  settingsIn,
} from '../kernel/settings.ts';
import { type Circuits, createCircuits } from '../runtime/jobs/circuits.ts';
import type { Vault } from '../runtime/security/vault.ts';
import { bridge } from './bridge/index.ts';
import type { Capabilities, Capability, Connector, ConnectorParts } from './connector.ts';
import { evm } from './evm/index.ts';
import { folder } from './folder/index.ts';
import { local } from './local/index.ts';
import { manual } from './manual/index.ts';
import { oidc } from './oidc/index.ts';
import type { Connectors, StoragePort } from './ports/index.ts';
import type { CustodyKeys } from './ports/wallets.ts';
import { s3 } from './s3/index.ts';
import { sandbox } from './sandbox/index.ts';
import { signer } from './signer/index.ts';
import { sms } from './sms/index.ts';
import { smtp } from './smtp/index.ts';

const BUILT_IN = [
  ...([manual, bridge, evm, smtp, sms, oidc] as const),
  ...([local, signer, sandbox, folder, s3] as const),
] as const;

/** Every connector of this server, in the order in which help lists their settings. */
export const CONNECTORS: readonly Connector[] = BUILT_IN;

type SettingsOf<C> = C extends { settings: infer S extends TObject } ? Static<S> : never;
type Together<Union> = (Union extends unknown ? (each: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;
type All = Together<SettingsOf<(typeof BUILT_IN)[number]>>;
/** The settings of all connectors, by their names in the schemas. */
export type ConnectorValues = { [Name in keyof All]?: All[Name] | undefined };

/** Where files are kept. */
export type StorageSettings = Pick<ConnectorValues, 's3'> & { folder: string };

/** What connects platforms to the outside, as the operator set it. */
export interface ConnectorSettings extends Omit<ConnectorValues, keyof StorageSettings> {
  /** What the built-in custodian of wallets seals and signs with; without it wallets have no custodian. */
  custodyKeys?: CustodyKeys | undefined;
  /** What the program that starts the server connects production with. It replaces what connectors offer. */
  production?: Pick<Connectors, 'issuer' | 'mint'> | undefined;
  /** What guards the calls to each provider; circuits of its own unless given. */
  circuits?: Circuits | undefined;
  /** Receives a sentence about what is wrong with a source while the server runs. */
  note?: ((problem: string) => void) | undefined;
}

/** What an installation's vault lends its custodian. */
export const custodyKeysOf = ({ sealOwn, openOwn, derive }: Vault): CustodyKeys => ({
  seal: sealOwn,
  open: openOwn,
  derive,
});

/** The keys of a mode: what one sealed does not open in the other, and they sign apart. */
const keysIn = (mode: Mode, { seal, open, derive }: CustodyKeys): CustodyKeys => ({
  seal: (text, context) => seal(text, `${mode} ${context}`),
  open: (sealed, context) => open(sealed, `${mode} ${context}`),
  derive: (purpose) => derive(`${mode} ${purpose}`),
});

/** The settings of connectors, a shared one once. */
export function connectorSettings(
  connectors: readonly Connector[] = CONNECTORS,
): readonly SettingLeaf[] {
  const leaves = connectors.flatMap(({ settings }) => settingsIn(settings));
  return leaves.filter(({ env }, at) => leaves.findIndex((each) => each.env === env) === at);
}

/** The values of all connectors from texts by environment variable. */
export const readConnectorSettings = (
  texts: ReadonlyMap<string, string>,
  base: string,
): ConnectorValues =>
  Object.assign({}, ...CONNECTORS.map(({ settings }) => readSettings(settings, texts, base)));

/** Complaints about texts that are accepted alone and wrong together. */
export const settingConflicts = (texts: ReadonlyMap<string, string>): string[] =>
  CONNECTORS.flatMap(({ settings, problems }) => [
    ...(problems?.(readSettings(settings, texts, '/')) ?? []),
    ...incompleteSettings(settings, (env) => texts.has(env)),
  ]);

type Values = Readonly<Record<string, unknown>>;

/** A connector's own settings among those of all, with their defaults. */
function ownSettings({ settings }: Connector, all: Values): Values {
  const own = Object.entries(settings.properties).flatMap(([name, property]) => {
    const value = all[name] ?? property.default;
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(own);
}

/** What is wrong with the values of a connector's settings, each by its environment variable. */
function valueProblems({ settings, problems }: Connector, values: Values): string[] {
  const leaves = new Map(settingsIn(settings).map((each) => [each.path.join('.'), each.env]));
  const errors = fieldErrors(settings, values, 'body').map(
    ({ field, message }) => `${leaves.get(field) ?? field} ${message}.`,
  );
  return errors.length ? errors : (problems?.(values) ?? []);
}

const namesIn = (offer: Capabilities): Capability[] =>
  (Object.keys(offer) as Capability[]).filter((name) => offer[name] !== undefined);

interface Opened {
  connector: Connector;
  offer: Capabilities;
}

/** Without it a capability could be offered that no document and no test of the connector knows of. */
const undeclared = ({ connector, offer }: Opened): string[] =>
  namesIn(offer)
    .filter(
      (name) => ![connector.capabilities, connector.optional].some((its) => its?.includes(name)),
    )
    .map((name) => `The connector ${connector.name} offers ${name} undeclared.`);

/** One offer of each capability: that of a connector that is no fallback, or else the fallback's. */
function merged(mode: Mode, opened: readonly Opened[]): Capabilities {
  const problems = opened.flatMap(undeclared);
  const serving = opened.flatMap((each) => namesIn(each.offer).map((name) => ({ name, ...each })));
  const isFallback = ({ name, connector }: (typeof serving)[number]) =>
    connector.fallbackFor?.includes(name) ?? false;
  const chosen = [...new Set(serving.map(({ name }) => name))].map((name) => {
    const all = serving.filter((each) => each.name === name);
    const own = all.filter((each) => !isFallback(each));
    const [first, second] = own.length ? own : all;
    if (first && second) {
      const both = `${first.connector.name} and ${second.connector.name}`;
      problems.push(`The connectors ${both} both offer ${name} in ${mode}. Configure one of them.`);
    }
    return [name, first?.offer[name]] as const;
  });
  if (problems.length) throw new Error(problems.join('\n'));
  return Object.fromEntries(chosen);
}

/** The capabilities of a mode. Throws one error that names every setting that cannot be used. */
export function openConnectors(
  connectors: readonly Connector[],
  parts: ConnectorParts,
  settings: Values,
): Capabilities {
  const configured = connectors
    .filter(({ modes }) => modes.includes(parts.mode))
    .map((connector) => ({ connector, values: ownSettings(connector, settings) }))
    .filter(({ connector, values }) => isComplete(connector.settings, values));
  const problems = configured.flatMap((each) => valueProblems(each.connector, each.values));
  if (problems.length) throw new Error([...new Set(problems)].join('\n'));
  const opened = configured.map(({ connector, values }) => ({
    connector,
    offer: connector.open(parts, values) as Capabilities,
  }));
  return merged(parts.mode, opened);
}

/** Files of both modes are kept in one place, so what keeps them is opened once and apart. */
const isStorage = ({ capabilities }: Connector) => capabilities.includes('storage');

/** The capabilities of both modes. Throws where a file that a setting names cannot be used. */
export function connectorRegistry(
  effects: Effects,
  settings: ConnectorSettings = {},
): (environment: Mode) => Connectors {
  const { custodyKeys, production, note = () => {}, ...values } = settings;
  const circuits = settings.circuits ?? createCircuits(() => effects.now());
  const providers = CONNECTORS.filter((each) => !isStorage(each));
  const open = (mode: Mode): Connectors => {
    const provider = (name: string) => circuits.effects(effects, name);
    const keys = custodyKeys && keysIn(mode, custodyKeys);
    return openConnectors(providers, { mode, effects, provider, keys, note }, { ...values });
  };
  const serving: Record<Mode, Connectors> = {
    sandbox: open('sandbox'),
    production: { ...open('production'), ...production },
  };
  return (environment) => serving[environment];
}

/** The storage that serves both modes. `effects` has its circuit already. */
export function storageOf(effects: Effects, settings: StorageSettings): StoragePort {
  const parts = { mode: 'production' as const, effects, provider: () => effects, note: () => {} };
  const { storage } = openConnectors(CONNECTORS.filter(isStorage), parts, { ...settings });
  if (!storage) throw new Error('No connector keeps files.');
  return storage;
}
