// Creation, check, pause and keys of providers by operators.

import type { Capabilities } from '../../connectors/ports/providers/protocol.ts';
import { iso, type Time } from '../../kernel/effects.ts';
import { Fault, invalidField } from '../../kernel/fault.ts';
import type { Mode } from '../../kernel/mode.ts';
import { isPublicAddress } from '../../kernel/net/endpoint.ts';
import { readUrl } from '../../kernel/net/url.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../runtime/operation/operate.ts';
import { systemCaller } from '../tenancy/platform/index.ts';
import type { ProviderDirectory } from './directory.ts';
import { ed25519Pem, insertOwnKey, insertProviderKey, providerNotFound } from './keys.ts';
import { type ProviderKeyRow, type ProviderRow, providerKeys, providers } from './store.ts';

/** Time in which every process reads a new own key before any of them signs with it. */
const NOTICE_MS = 5_000;
/** Keys of one side that can be valid at the same time. */
const MAX_KEYS = 4;

/** Changes of the installation belong to no platform. */
const INSTALLATION = systemCaller('', 'production');

export interface ManagerParts {
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

const isActive = ({ retired_at }: ProviderKeyRow, now: Time) =>
  retired_at === null || retired_at > now;

const presentKey = (row: ProviderKeyRow) => ({
  keyId: row.id,
  publicKeyPem: row.public_key,
  activeFrom: iso(row.active_from),
  ...(row.retired_at === null ? {} : { retiredAt: iso(row.retired_at) }),
});

async function present({ runtime, directory }: ManagerParts, row: ProviderRow) {
  const keys = await runtime.db.find(providerKeys, { provider_id: row.id });
  const now = runtime.effects.now();
  const ofSide = (side: ProviderKeyRow['side']) =>
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
    available: !directory.isUnavailable(row.id),
    capabilities: row.capabilities === null ? null : (JSON.parse(row.capabilities) as Capabilities),
    checkedAt: row.checked_at === null ? null : iso(row.checked_at),
    problem: row.problem,
    ownKeys: ofSide('OWN'),
    providerKeys: ofSide('PROVIDER'),
    createdAt: iso(row.created_at),
  };
}

export type ProviderView = Awaited<ReturnType<typeof present>>;

/** The URL without a trailing slash. Throws INVALID_INPUT. */
function checkedUrl(text: string, isPrivateAllowed: boolean): string {
  const url = readUrl(text);
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.search || url.hash) {
    throw invalidField('url', 'must be an http or https URL without a query');
  }
  if (url.username || url.password) throw invalidField('url', 'must not contain credentials');
  const isPrivate = url.protocol === 'http:' || isLiteralPrivate(url.hostname);
  if (isPrivate && !isPrivateAllowed) {
    const rule = 'must use https and a public address, unless privateAddressAllowed is true';
    throw invalidField('url', rule);
  }
  return url.href.replace(/\/+$/, '');
}

/** Whether the host is an address or a local name that is not public. Names are resolved at each call. */
function isLiteralPrivate(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  const isAddress = /^[\d.]+$/.test(host) || host.includes(':');
  return isAddress ? !isPublicAddress(host) : !host.includes('.');
}

async function changeProvider(
  parts: ManagerParts,
  providerId: string,
  change: (ctx: Ctx, row: ProviderRow) => Promise<void> | void,
): Promise<ProviderView> {
  const { runtime, directory } = parts;
  await operate(runtime, INSTALLATION, async (ctx) => {
    const row = await ctx.read(providers, providerId);
    if (!row) throw providerNotFound();
    await change(ctx, row);
  });
  await directory.refresh();
  return providerById(parts, providerId);
}

/** Adds a provider, with a new key of this installation for it. Throws CONFLICT for a used name. */
export async function createProvider(
  parts: ManagerParts,
  input: NewProvider,
): Promise<ProviderView> {
  const isPrivateAllowed = input.privateAddressAllowed ?? false;
  const url = checkedUrl(input.url, isPrivateAllowed);
  const publicKey = ed25519Pem('publicKeyPem', input.publicKeyPem);
  await operate(parts.runtime, INSTALLATION, async (ctx) => {
    ctx.insert(providers, {
      id: input.providerId,
      environment: input.environment,
      url,
      private_address: isPrivateAllowed,
      status: 'ACTIVE',
      capabilities: null,
      checked_at: null,
      problem: null,
      created_at: ctx.now,
      updated_at: ctx.now,
    });
    insertOwnKey(ctx, input.providerId, ctx.now);
    insertProviderKey(ctx, input.providerId, publicKey);
  });
  await parts.directory.refresh();
  return providerById(parts, input.providerId);
}

/** Throws NOT_FOUND. */
export async function providerById(parts: ManagerParts, providerId: string): Promise<ProviderView> {
  const row = await parts.runtime.db.read(providers, providerId);
  if (!row) throw providerNotFound();
  return present(parts, row);
}

/** All providers, by name. An installation has a few dozen. */
export async function listProviders(parts: ManagerParts): Promise<ProviderView[]> {
  const rows = [...parts.directory.current().providers.values()].map(({ row }) => row);
  return Promise.all(rows.map((row) => present(parts, row)));
}

/** Requests what the provider offers and stores it. A failure is stored and returned, not thrown. */
export async function checkProvider(
  parts: ManagerParts,
  providerId: string,
): Promise<ProviderView> {
  await parts.directory.refresh();
  const provider = parts.directory.current().providers.get(providerId);
  if (!provider) throw providerNotFound();
  const result = await provider.port.capabilities().then(
    (offer) => ({ capabilities: JSON.stringify(offer), problem: null }),
    (error: Error) => ({ problem: error.message }),
  );
  return changeProvider(parts, providerId, (ctx, row) => {
    ctx.update(providers, row, { ...result, checked_at: ctx.now, updated_at: ctx.now });
  });
}

/** A paused provider gets no new transfers; those that it has continue. */
export const pauseProvider = (parts: ManagerParts, providerId: string): Promise<ProviderView> =>
  changeProvider(parts, providerId, (ctx, row) => {
    if (row.status === 'PAUSED') throw new Fault('CONFLICT', 'The provider is paused already.');
    ctx.update(providers, row, { status: 'PAUSED', updated_at: ctx.now });
  });

export const resumeProvider = (parts: ManagerParts, providerId: string): Promise<ProviderView> =>
  changeProvider(parts, providerId, (ctx, row) => {
    if (row.status === 'ACTIVE') throw new Fault('CONFLICT', 'The provider is not paused.');
    ctx.update(providers, row, { status: 'ACTIVE', updated_at: ctx.now });
  });

const activeKeys = async (ctx: Ctx, providerId: string, side: ProviderKeyRow['side']) =>
  (await ctx.db.find(providerKeys, { provider_id: providerId, side })).filter((each) =>
    isActive(each, ctx.now),
  );

const tooManyKeys = () =>
  new Fault('CONFLICT', `At most ${MAX_KEYS} keys can be active. Retire one, or wait for its end.`);

/**
 * Adds a key of this installation, which signs from `overlapMs` on; the earlier keys are retired after
 * the same time again, so that the provider can accept both meanwhile.
 */
export const rotateOwnKey = (
  parts: ManagerParts,
  providerId: string,
  overlapMs: number,
): Promise<ProviderView> =>
  changeProvider(parts, providerId, async (ctx) => {
    const keys = await activeKeys(ctx, providerId, 'OWN');
    if (keys.length >= MAX_KEYS) throw tooManyKeys();
    const waitMs = Math.max(overlapMs, NOTICE_MS);
    insertOwnKey(ctx, providerId, ctx.now + waitMs);
    for (const key of keys) {
      ctx.update(providerKeys, key, { retired_at: ctx.now + 2 * waitMs });
    }
  });

/** Adds a key of the provider; its earlier keys are accepted for `overlapMs`. */
export async function addProviderKey(
  parts: ManagerParts,
  providerId: string,
  publicKeyPem: string,
  overlapMs: number,
): Promise<ProviderView> {
  const publicKey = ed25519Pem('publicKeyPem', publicKeyPem);
  return changeProvider(parts, providerId, async (ctx) => {
    const keys = await activeKeys(ctx, providerId, 'PROVIDER');
    if (keys.length >= MAX_KEYS) throw tooManyKeys();
    insertProviderKey(ctx, providerId, publicKey);
    for (const key of keys) {
      const end = Math.min(key.retired_at ?? Number.POSITIVE_INFINITY, ctx.now + overlapMs);
      ctx.update(providerKeys, key, { retired_at: end });
    }
  });
}
