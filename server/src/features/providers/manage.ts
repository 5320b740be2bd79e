// Management of providers by operators: creation, list, capability check, pause, terms, rates,
// balances and keys.

import type { Capabilities } from '../../connectors/ports/providers/protocol.ts';
import type { ReportedRates } from '../../connectors/ports/providers/services.ts';
import { iso, type Time } from '../../kernel/effects.ts';
import { Fault, invalid, invalidField } from '../../kernel/fault.ts';
import type { Mode } from '../../kernel/mode.ts';
import { publicUrlProblem } from '../../kernel/net/endpoint.ts';
import { readUrl } from '../../kernel/net/url.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../runtime/operation/operate.ts';
import { KEY_NOTICE_MS } from '../../runtime/security/key-rotation.ts';
import { INSTALLATION } from '../tenancy/platform/index.ts';
import type { ProviderTerms } from './configuration/contract.ts';
import { termsErrors, termsOf } from './configuration/terms.ts';
import type { Provider, ProviderDirectory } from './directory.ts';
import { ed25519Key, insertOwnKey, insertProviderKey, providerNotFound } from './keys.ts';
import {
  type BalanceRow,
  type ProviderKeyRow,
  type ProviderRow,
  providerBalances,
  providerKeys,
  providers,
} from './store.ts';
import { availableIn, type ReportedBalance, stageBalance } from './usage.ts';

/** Maximum active keys on one side of a provider. Imports do not apply this limit. */
const MAX_KEYS = 4;

export interface ManagerDeps {
  runtime: Runtime;
  directory: ProviderDirectory;
}

export interface NewProvider {
  providerId: string;
  environment: Mode;
  url: string;
  publicKeyPem: string;
  privateAddressAllowed?: boolean | undefined;
}

/** A connector that is part of the server, in an environment. */
export interface BuiltInProvider {
  name: string;
  environment: Mode;
  description: string;
  serves: readonly string[];
}

export const isActive = ({ retired_at }: ProviderKeyRow, now: Time) =>
  retired_at === null || retired_at > now;

const presentKey = (row: ProviderKeyRow) => ({
  keyId: row.id,
  publicKeyPem: row.public_key,
  activeFrom: iso(row.active_from),
  ...(row.retired_at === null ? {} : { retiredAt: iso(row.retired_at) }),
});

const presentBalance = (row: BalanceRow, terms: ProviderTerms) => {
  const { alertBelow } = terms.prefunding?.find((each) => each.currency === row.currency) ?? {};
  const availableAmount = availableIn(row);
  return {
    currency: row.currency,
    amount: Number(row.amount),
    sentSince: Number(row.spent),
    available: Number(availableAmount),
    isLow: alertBelow !== undefined && availableAmount < BigInt(alertBelow),
    source: row.source,
    asOf: iso(row.reported_at),
  };
};

async function presentProvider({ runtime, directory }: ManagerDeps, row: ProviderRow) {
  const keys = await runtime.db.find(providerKeys, { provider_id: row.id });
  const balances = await runtime.db.find(providerBalances, { provider_id: row.id });
  const terms = termsOf(row);
  const now = runtime.effects.now();
  const keysOfSide = (side: ProviderKeyRow['side']) =>
    keys
      .filter((each) => each.side === side && isActive(each, now))
      .sort((a, b) => a.active_from - b.active_from)
      .map(presentKey);
  return {
    providerId: row.id,
    environment: row.environment,
    url: row.url,
    privateAddressAllowed: row.private_address,
    status: row.status,
    pausedBy: row.paused_by,
    pauseReason: row.pause_reason,
    statusSince: iso(row.status_since),
    terms,
    balances: balances
      .sort((a, b) => a.id.localeCompare(b.id))
      .map((each) => presentBalance(each, terms)),
    available: !directory.isUnavailable(row.id),
    capabilities: row.capabilities === null ? null : (JSON.parse(row.capabilities) as Capabilities),
    checkedAt: row.checked_at === null ? null : iso(row.checked_at),
    problem: row.problem,
    ownKeys: keysOfSide('OWN'),
    providerKeys: keysOfSide('PROVIDER'),
    createdAt: iso(row.created_at),
  };
}

export type ProviderView = Awaited<ReturnType<typeof presentProvider>>;

/**
 * Returns the problem of a provider URL, or null if it is valid. Host names are resolved and checked again
 * for each connection.
 */
export function urlProblem(url: URL | undefined, isPrivateAllowed: boolean): string | null {
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.search || url.hash) {
    return 'must be an http or https URL without a query';
  }
  if (url.username || url.password) return 'must not contain credentials';
  const problem = isPrivateAllowed ? null : publicUrlProblem(url.href);
  return problem && `${problem}, unless privateAddressAllowed is true`;
}

/** A valid URL without trailing slashes. */
export const normalizedUrl = (url: string): string => new URL(url).href.replace(/\/+$/, '');

async function changeProvider(
  deps: ManagerDeps,
  providerId: string,
  change: (ctx: Ctx, row: ProviderRow) => Promise<void> | void,
): Promise<ProviderView> {
  const { runtime, directory } = deps;
  await operate(runtime, INSTALLATION, async (ctx) => {
    const row = await ctx.read(providers, providerId);
    if (!row) throw providerNotFound();
    await change(ctx, row);
  });
  await directory.refresh();
  return providerById(deps, providerId);
}

/** Stages a provider and a new signing key for calls to it. */
export function stageProvider(
  ctx: Ctx,
  input: Omit<NewProvider, 'publicKeyPem'> & { terms?: ProviderTerms | undefined },
  publicKeys: readonly string[],
): void {
  ctx.insert(providers, {
    id: input.providerId,
    environment: input.environment,
    url: normalizedUrl(input.url),
    private_address: input.privateAddressAllowed ?? false,
    status: 'ACTIVE',
    pause_reason: null,
    paused_by: null,
    status_since: ctx.now,
    terms: JSON.stringify(input.terms ?? {}),
    capabilities: null,
    checked_at: null,
    problem: null,
    rates: null,
    created_at: ctx.now,
    updated_at: ctx.now,
  });
  insertOwnKey(ctx, input.providerId, ctx.now);
  for (const pem of publicKeys) insertProviderKey(ctx, input.providerId, pem);
}

/** Adds a provider and generates its signing key. Throws CONFLICT if the name is in use. */
export async function createProvider(deps: ManagerDeps, input: NewProvider): Promise<ProviderView> {
  const publicKey = ed25519Key(input.publicKeyPem);
  const problemOfUrl = urlProblem(readUrl(input.url), input.privateAddressAllowed ?? false);
  const errors = [
    { field: 'url', message: problemOfUrl },
    { field: 'publicKeyPem', message: 'problem' in publicKey ? publicKey.problem : null },
  ].flatMap(({ field, message }) => (message === null ? [] : [{ field, message }]));
  if ('problem' in publicKey || errors.length > 0) throw invalid(errors);
  await operate(deps.runtime, INSTALLATION, async (ctx) =>
    stageProvider(ctx, input, [publicKey.pem]),
  );
  await deps.directory.refresh();
  return providerById(deps, input.providerId);
}

/** Throws NOT_FOUND. */
export async function providerById(deps: ManagerDeps, providerId: string): Promise<ProviderView> {
  const row = await deps.runtime.db.read(providers, providerId);
  if (!row) throw providerNotFound();
  return presentProvider(deps, row);
}

/** The kinds of transfers and the services that a provider offers. */
const offeredKinds = (offer: Capabilities | null): string[] => [
  ...new Set((offer?.transfers ?? []).flatMap(({ kinds }) => kinds)),
  ...(offer?.services ?? []),
];

const summaryOf = ({ directory }: ManagerDeps, { row, capabilities }: Provider) => ({
  kind: 'GATEWAY' as const,
  providerId: row.id,
  environment: row.environment,
  status: row.status,
  pauseReason: row.pause_reason,
  available: !directory.isUnavailable(row.id),
  serves: offeredKinds(capabilities),
  description: row.url,
  problem: row.problem,
});

/** The operations with which operators execute the transfers of the manual rail. */
const MANUAL_OPERATIONS = [
  ...['listAwaitedTransfers', 'settleTransfer', 'failTransfer', 'returnTransfer'],
  ...['cancelTransfer', 'rejectTransferCancel', 'recordDeposit', 'recordDepositReturn'],
];

/** Returns the providers that use the protocol, by name, followed by the connectors of the server. */
export const listProviders = (deps: ManagerDeps, builtIn: readonly BuiltInProvider[]) => [
  ...[...deps.directory.current().providers.values()].map((provider) => ({
    ...summaryOf(deps, provider),
    operations: [] as string[],
  })),
  ...builtIn.map(({ name, environment, description, serves }) => ({
    kind: 'BUILT_IN' as const,
    ...{ providerId: name, environment, status: 'ACTIVE' as const, pauseReason: null },
    ...{ available: true, serves: [...serves], description, problem: null },
    operations: name === 'manual' && serves.includes('rail') ? MANUAL_OPERATIONS : [],
  })),
];

/** Requests the capabilities of a provider and stores them. A failure is stored and returned. */
export async function checkProvider(deps: ManagerDeps, providerId: string): Promise<ProviderView> {
  await deps.directory.refresh();
  const provider = deps.directory.current().providers.get(providerId);
  if (!provider) throw providerNotFound();
  const result = await provider.port.capabilities().then(
    (offer) => ({ capabilities: JSON.stringify(offer), problem: null }),
    (error: Error) => ({ problem: error.message }),
  );
  return changeProvider(deps, providerId, (ctx, row) => {
    ctx.update(providers, row, { ...result, checked_at: ctx.now, updated_at: ctx.now });
  });
}

/**
 * Stores the rates that a provider reports. Returns false if rates of the same or a later time are
 * stored.
 */
export async function recordRates(
  deps: ManagerDeps,
  providerId: string,
  rates: ReportedRates,
): Promise<boolean> {
  const isNewer = await operate(deps.runtime, INSTALLATION, async (ctx) => {
    const row = await ctx.read(providers, providerId);
    if (!row) throw providerNotFound();
    const storedRates = row.rates === null ? undefined : (JSON.parse(row.rates) as ReportedRates);
    if (storedRates && Date.parse(storedRates.at) >= Date.parse(rates.at)) return false;
    ctx.update(providers, row, { rates: JSON.stringify(rates), updated_at: ctx.now });
    return true;
  });
  if (isNewer) await deps.directory.refresh();
  return isNewer;
}

/** A paused provider receives no new transfers. Transfers already sent to it continue. */
export const pauseProvider = (
  deps: ManagerDeps,
  providerId: string,
  reason?: string | undefined,
): Promise<ProviderView> =>
  changeProvider(deps, providerId, (ctx, row) => {
    if (row.status === 'PAUSED') throw new Fault('CONFLICT', 'The provider is already paused.');
    ctx.update(providers, row, {
      ...{ status: 'PAUSED', paused_by: 'OPERATOR', pause_reason: reason ?? null },
      ...{ status_since: ctx.now, updated_at: ctx.now },
    });
  });

export const resumeProvider = (deps: ManagerDeps, providerId: string): Promise<ProviderView> =>
  changeProvider(deps, providerId, (ctx, row) => {
    if (row.status === 'ACTIVE') throw new Fault('CONFLICT', 'The provider is not paused.');
    ctx.update(providers, row, {
      ...{ status: 'ACTIVE', paused_by: null, pause_reason: null },
      ...{ status_since: ctx.now, updated_at: ctx.now },
    });
  });

/** Replaces the terms of a provider. Throws INVALID_INPUT with all invalid fields. */
export async function setProviderTerms(
  deps: ManagerDeps,
  providerId: string,
  terms: ProviderTerms,
): Promise<ProviderView> {
  const errors = termsErrors(terms);
  if (errors.length > 0) throw invalid(errors);
  return changeProvider(deps, providerId, (ctx, row) => {
    ctx.update(providers, row, { terms: JSON.stringify(terms), updated_at: ctx.now });
  });
}

/** Records the prefunded balance at a provider. */
export const setProviderBalance = (
  deps: ManagerDeps,
  providerId: string,
  { currency, amount, asOf }: { currency: string; amount: number; asOf?: string | undefined },
): Promise<ProviderView> =>
  changeProvider(deps, providerId, async (ctx, row) => {
    const reportedBalance: ReportedBalance = {
      ...{ currency, amount: BigInt(amount), source: 'OPERATOR' },
      asOf: asOf === undefined ? ctx.effects.now() : Date.parse(asOf),
    };
    await stageBalance(ctx, { row, terms: termsOf(row) }, reportedBalance);
  });

const activeKeys = async (ctx: Ctx, providerId: string, side: ProviderKeyRow['side']) =>
  (await ctx.db.find(providerKeys, { provider_id: providerId, side })).filter((each) =>
    isActive(each, ctx.now),
  );

/** Sets the retirement time of keys to `time`. An earlier retirement time is kept. */
export function retireBy(ctx: Ctx, keys: readonly ProviderKeyRow[], time: Time): void {
  for (const key of keys) {
    const retired_at = Math.min(key.retired_at ?? time, time);
    ctx.update(providerKeys, key, { retired_at });
  }
}

const tooManyKeysFault = () =>
  new Fault(
    'CONFLICT',
    `At most ${MAX_KEYS} keys can be active. Wait until the oldest key is retired, and repeat the request.`,
  );

/**
 * Adds a signing key that becomes active after the longer of `overlapMs` and KEY_NOTICE_MS, so that
 * the provider can install it first. The earlier keys are retired after twice that time at the
 * latest.
 */
export const rotateOwnKey = (
  deps: ManagerDeps,
  providerId: string,
  overlapMs: number,
): Promise<ProviderView> =>
  changeProvider(deps, providerId, async (ctx) => {
    const keys = await activeKeys(ctx, providerId, 'OWN');
    if (keys.length >= MAX_KEYS) throw tooManyKeysFault();
    const waitMs = Math.max(overlapMs, KEY_NOTICE_MS);
    insertOwnKey(ctx, providerId, ctx.now + waitMs);
    retireBy(ctx, keys, ctx.now + 2 * waitMs);
  });

/** Adds a public key of the provider. Earlier keys are accepted for `overlapMs` at most. */
export async function addProviderKey(
  deps: ManagerDeps,
  providerId: string,
  publicKeyPem: string,
  overlapMs: number,
): Promise<ProviderView> {
  const publicKey = ed25519Key(publicKeyPem);
  if ('problem' in publicKey) throw invalidField('publicKeyPem', publicKey.problem);
  return changeProvider(deps, providerId, async (ctx) => {
    const keys = await activeKeys(ctx, providerId, 'PROVIDER');
    if (keys.length >= MAX_KEYS) throw tooManyKeysFault();
    insertProviderKey(ctx, providerId, publicKey.pem);
    retireBy(ctx, keys, ctx.now + overlapMs);
  });
}
