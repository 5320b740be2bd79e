// Prerequisites of the first request: a platform with its accounts and an API token. It is composed
// here, outside the features, because it needs three of them in one change set; the operator's
// command and the first start both use it.

import type { FundingPort } from './connectors/ports/index.ts';
import {
  findInternalAccounts,
  provisionAccounts,
} from './features/balances/internal-accounts/index.ts';
import { createPlatform, type NewPlatform } from './features/tenancy/administration/index.ts';
import { newPlatformId, oldestPlatform, systemCaller } from './features/tenancy/platform/index.ts';
import { createTokenFor, tokenOfClient } from './features/tenancy/tokens/index.ts';
import { PERMISSIONS, type Permission } from './kernel/contract/operation.ts';
import type { Mode } from './kernel/mode.ts';
import { col, table } from './runtime/db/table.ts';
import type { Ctx } from './runtime/operation/context.ts';
import { isKeyTaken, operate, type Runtime } from './runtime/operation/operate.ts';
import { constantTimeEqual, sha256Hex } from './runtime/security/crypto.ts';

/** The funding details of an environment's accounts; none if no connector provides any. */
export type FundingOf = (environment: Mode) => FundingPort | undefined;

/** Credentials of a platform. */
interface Credentials {
  clientId: string;
  clientSecret: string;
}

interface NewPlatformWithToken extends NewPlatform {
  fundingOf: FundingOf;
  tokenName?: string;
  permissions?: readonly Permission[] | undefined;
  /** Fixed credentials instead of generated ones. */
  credentials?: Partial<Credentials>;
}

interface PlatformWithToken extends Credentials {
  platformId: string;
  tokenId: string;
}

/** Switches that are on for the platform of a first start. */
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

const bootstrapSteps = table(
  'bootstrap_steps',
  { id: col.text, subject: col.text, created_at: col.time },
  { clientKeyed: true },
);

/** Opens the platform's own accounts in the `currencies` that have none yet. */
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
    held: internalAccounts,
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
 * Creates a platform, its accounts and a token at once. The secret is returned and stored nowhere.
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
  created: boolean;
  platformId: string;
  clientId: string;
  /** Present if it was just created, or if the fixed secret is correct. */
  clientSecret?: string;
}

const FIRST_PLATFORM = 'first platform';

/** The oldest platform with its oldest token, or with the token of the requested client id. */
async function existing(
  runtime: Runtime,
  wanted: Partial<Credentials>,
): Promise<FirstStart | undefined> {
  const platform = await oldestPlatform(runtime.db);
  if (!platform) return undefined;
  const token = await tokenOfClient(runtime.db, platform.id, wanted.clientId);
  const secret = wanted.clientSecret;
  const right = secret && token && constantTimeEqual(sha256Hex(secret), token.secret_hash);
  return {
    created: false,
    platformId: token?.platform_id ?? platform.id,
    clientId: token?.client_id ?? '',
    ...(right ? { clientSecret: secret } : {}),
  };
}

/**
 * Creates the first platform if there is none: sandbox, with its own compliance, a token with every
 * permission. If platforms exist it creates nothing and returns the first. Servers that start
 * together on one empty database agree on one.
 */
export async function firstStart(
  runtime: Runtime,
  fundingOf: FundingOf,
  wanted: Partial<Credentials> = {},
): Promise<FirstStart> {
  const known = await existing(runtime, wanted);
  if (known) return known;
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
        credentials: wanted,
      });
    });
    const { platformId, clientId, clientSecret } = createdPlatform;
    return { created: true, platformId, clientId, clientSecret };
  } catch (error) {
    const other = isKeyTaken(error) ? await existing(runtime, wanted) : undefined;
    if (!other) throw error;
    return other;
  }
}
