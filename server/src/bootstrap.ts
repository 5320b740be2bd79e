// Prerequisites of the first request: the prepared database, and a platform with its accounts and
// an API token. The file is outside the features, because one change set contains rows of three of
// them.

import { CURRENCIES } from './catalog/currencies/currencies.ts';
import type { FundingPort } from './connectors/ports/index.ts';
import {
  findInternalAccounts,
  provisionAccounts,
} from './features/balances/internal-accounts/index.ts';
import { openSystemAccounts } from './features/balances/ledger-accounts/index.ts';
import { sealOldCustomers } from './features/customers/records/index.ts';
import { openEpoch } from './features/notifications/events/index.ts';
import { createPlatform, type NewPlatform } from './features/tenancy/administration/index.ts';
import {
  newPlatformId,
  type PlatformRow,
  pageOfPlatformRows,
  systemCaller,
} from './features/tenancy/platform/index.ts';
import { createTokenFor, tokenOfClient } from './features/tenancy/tokens/index.ts';
import { PERMISSIONS, type Permission } from './kernel/contract/operation.ts';
import type { Mode } from './kernel/mode.ts';
import type { Provisioning } from './operator-api/installation.ts';
import { PERSONAL_DATA } from './personal-data.ts';
import type { Database } from './runtime/db/database.ts';
import { col, table } from './runtime/db/table.ts';
import type { Log } from './runtime/observability/log.ts';
import type { Ctx } from './runtime/operation/context.ts';
import { isKeyTaken, operate, type Runtime } from './runtime/operation/operate.ts';
import { constantTimeEqual, sha256Hex } from './runtime/security/crypto.ts';
import type { DataKeys } from './runtime/security/data-keys.ts';
import { type KeyRing, openKeyRing } from './runtime/security/key-ring.ts';
import { checkSigningKeys } from './runtime/security/keys.ts';

/** Provider of the funding details of an environment, or undefined without such a connector. */
export type FundingOf = (environment: Mode) => FundingPort | undefined;

interface Credentials {
  clientId: string;
  clientSecret: string;
}

interface NewPlatformWithToken extends NewPlatform {
  fundingOf: FundingOf;
  tokenName?: string;
  permissions?: readonly Permission[] | undefined;
  /** Fixed credentials. Absent: generated. */
  credentials?: Partial<Credentials>;
}

interface PlatformWithToken extends Credentials {
  platformId: string;
  tokenId: string;
}

/** Currencies of the first platform. */
export const FIRST_CURRENCIES = [
  'USD',
  'EUR',
  'GBP',
  'MXN',
  'BRL',
  'INR',
  'NGN',
  'PHP',
  'BTC',
  'USDC',
  'USDT',
  'USDB',
] as const;

/** Dependencies of the operator API: functions of this file, `accountPorts` and personal data. */
export const provisioningBy = (
  fundingOf: FundingOf,
  accountPorts: Provisioning['accountPorts'],
): Provisioning => ({
  accountPorts,
  personalData: PERSONAL_DATA,
  createPlatform: (runtime, input) => createPlatformWithToken(runtime, { ...input, fundingOf }),
  openAccounts: (ctx, currencies) => openPlatformAccounts(ctx, currencies, fundingOf),
});

const bootstrapSteps = table(
  'bootstrap_steps',
  { id: col.text, subject: col.text, created_at: col.time },
  { clientKeyed: true },
);

export async function oldestPlatform(db: Pick<Database, 'page'>): Promise<PlatformRow | undefined> {
  return (await pageOfPlatformRows(db, { filters: [], sort: 'asc', limit: 1 })).rows[0];
}

/** Opens the platform's own account in each of `currencies` that lacks one. */
export async function openPlatformAccounts(
  ctx: Ctx,
  currencies: readonly string[],
  fundingOf: FundingOf,
): Promise<void> {
  const { platformId, environment } = ctx.caller;
  const internalAccounts = await findInternalAccounts(ctx.db, {
    platform_id: platformId,
    customer_id: null,
  });
  provisionAccounts(ctx, {
    customerId: null,
    currencies,
    existingAccounts: internalAccounts,
    funding: fundingOf(environment),
  });
}

async function stagePlatform(ctx: Ctx, input: NewPlatformWithToken): Promise<PlatformWithToken> {
  const platform = createPlatform(ctx, input);
  provisionAccounts(ctx, {
    customerId: null,
    currencies: input.currencies,
    funding: input.fundingOf(input.environment),
  });
  const { row, clientSecret } = await createTokenFor(ctx, {
    platformId: platform.id,
    name: input.tokenName ?? 'First token',
    permissions: input.permissions ?? PERMISSIONS,
    ...input.credentials,
  });
  return { platformId: platform.id, tokenId: row.id, clientId: row.client_id, clientSecret };
}

/**
 * Creates a platform, its accounts and a token in one change set. The secret is returned but not
 * stored.
 */
export async function createPlatformWithToken(
  runtime: Runtime,
  input: NewPlatformWithToken,
): Promise<PlatformWithToken> {
  const caller = systemCaller(newPlatformId(runtime.effects), input.environment);
  return operate(runtime, caller, (ctx) => stagePlatform(ctx, input));
}

interface FirstStart {
  /** Whether this call created the first platform. */
  isCreated: boolean;
  platformId: string;
  clientId: string;
  /** Present if this call created the platform, or if the requested secret is correct. */
  clientSecret?: string;
}

const FIRST_PLATFORM = 'first platform';

/**
 * The token of the requested client ID with its platform, or else the oldest platform with its
 * oldest token. Undefined without a platform.
 */
async function findFirstPlatform(
  runtime: Runtime,
  requestedCredentials: Partial<Credentials>,
): Promise<FirstStart | undefined> {
  const platform = await oldestPlatform(runtime.db);
  if (!platform) return undefined;
  const token = await tokenOfClient(runtime.db, platform.id, requestedCredentials.clientId);
  const secret = requestedCredentials.clientSecret;
  const isCorrectSecret =
    secret && token && constantTimeEqual(sha256Hex(secret), token.secret_hash);
  return {
    isCreated: false,
    platformId: token?.platform_id ?? platform.id,
    clientId: token?.client_id ?? '',
    ...(isCorrectSecret ? { clientSecret: secret } : {}),
  };
}

/**
 * Returns the first platform. Creates it in an empty database: a sandbox platform that verifies its
 * customers itself, with a token with every permission. Concurrent first starts create only one.
 */
export async function firstStart(
  runtime: Runtime,
  fundingOf: FundingOf,
  requestedCredentials: Partial<Credentials> = {},
): Promise<FirstStart> {
  const firstPlatform = await findFirstPlatform(runtime, requestedCredentials);
  if (firstPlatform) return firstPlatform;
  const caller = systemCaller(newPlatformId(runtime.effects), 'sandbox');
  try {
    const createdPlatform = await operate(runtime, caller, async (ctx) => {
      const { platformId } = caller;
      ctx.insert(bootstrapSteps, { id: FIRST_PLATFORM, subject: platformId, created_at: ctx.now });
      return stagePlatform(ctx, {
        name: 'Sandbox',
        environment: 'sandbox',
        regulated: true,
        documentsOptional: false,
        currencies: FIRST_CURRENCIES,
        fundingOf,
        credentials: requestedCredentials,
      });
    });
    const { platformId, clientId, clientSecret } = createdPlatform;
    return { isCreated: true, platformId, clientId, clientSecret };
  } catch (error) {
    const concurrentStart = isKeyTaken(error)
      ? await findFirstPlatform(runtime, requestedCredentials)
      : undefined;
    if (!concurrentStart) throw error;
    return concurrentStart;
  }
}

/**
 * Prepares a migrated database for the first change set. Returns the signing keys. Starting and
 * stopping them also starts and stops the data keys of the installation.
 */
export async function prepareDatabase(
  runtime: Runtime,
  dataKeys: DataKeys,
  log: Log,
): Promise<KeyRing> {
  const { db, vault, effects } = runtime;
  await dataKeys.read();
  await openEpoch(db);
  await openSystemAccounts(db, CURRENCIES, effects.now());
  await checkSigningKeys(runtime);
  // Requires a verified master key.
  await sealOldCustomers(db, vault);
  const keyRing = await openKeyRing({ db, effects, vault, log });
  return {
    ...keyRing,
    start(onChange) {
      dataKeys.start(log);
      keyRing.start(onChange);
    },
    stop() {
      keyRing.stop();
      dataKeys.stop();
    },
  };
}
