// A wallet for operations: its account, row, customer and data key.

import type { Connectors } from '../../../connectors/ports/index.ts';
import type { CustodyPort } from '../../../connectors/ports/wallets.ts';
import { Fault, invalidField } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import type { Mode } from '../../../kernel/mode.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { DataKey } from '../../../runtime/security/vault.ts';
import {
  type InternalAccountRow,
  readInternalAccount,
} from '../../balances/internal-accounts/index.ts';
import { type CustomerRow, dataKeyOf, readCustomer } from '../../customers/records/index.ts';
import { type WalletRow, wallets } from '../store.ts';

export interface WalletDeps {
  connectors(environment: Mode): Connectors;
}

export interface Wallet {
  account: InternalAccountRow;
  row: WalletRow;
  customer: CustomerRow;
  key: DataKey;
}

const accountNotFoundFault = () => new Fault('ACCOUNT_NOT_FOUND', 'Account not found.');

/**
 * The wallet of an account, or undefined for other accounts, closed wallets and deleted customers.
 */
export async function findWallet(ctx: Ctx, accountId: string): Promise<Wallet | undefined> {
  if (!isId(accountId, 'InternalAccount')) return undefined;
  const [account, row] = await Promise.all([
    readInternalAccount(ctx, accountId),
    ctx.read(wallets, accountId),
  ]);
  if (account?.platform_id !== ctx.caller.platformId || account.status === 'CLOSED') return;
  if (!row) return undefined;
  const customer = await readCustomer(ctx, row.customer_id);
  if (!customer || customer.deleted_at !== null) return undefined;
  const key = dataKeyOf(customer);
  return key && { account, row, customer, key };
}

function rejectUnprovisioned({ status }: InternalAccountRow): void {
  if (status !== 'PENDING' && status !== 'FAILED') return;
  throw new Fault('WALLET_NOT_PROVISIONED', 'The wallet is not provisioned yet. Retry later.');
}

/**
 * The wallet of a related resource, or undefined as for `findWallet`. Throws WALLET_NOT_PROVISIONED
 * before provisioning is complete.
 */
export async function requireProvisionedWallet(
  ctx: Ctx,
  accountId: string,
): Promise<Wallet | undefined> {
  const wallet = await findWallet(ctx, accountId);
  if (wallet) rejectUnprovisioned(wallet.account);
  return wallet;
}

/**
 * The wallet whose ID is in the path or in `field` of a request. Throws ACCOUNT_NOT_FOUND for an
 * unknown or closed account, INVALID_INPUT for an account of another type, and
 * WALLET_NOT_PROVISIONED before provisioning is complete.
 */
export async function walletOf(ctx: Ctx, accountId: string, field = 'accountId'): Promise<Wallet> {
  const account = isId(accountId, 'InternalAccount')
    ? await readInternalAccount(ctx, accountId)
    : undefined;
  if (account?.platform_id !== ctx.caller.platformId) throw accountNotFoundFault();
  if (account.type !== 'EMBEDDED_WALLET') throw invalidField(field, 'must be an embedded wallet');
  rejectUnprovisioned(account);
  const wallet = await findWallet(ctx, accountId);
  if (!wallet) throw accountNotFoundFault();
  return wallet;
}

/** The custodian of the calling platform's wallets. */
export function custodyOf(ctx: Ctx, deps: WalletDeps): CustodyPort {
  const { custody } = deps.connectors(ctx.caller.environment);
  if (!custody) throw new Fault('NOT_IMPLEMENTED', 'No custodian for wallets is connected.');
  return custody;
}

/** Encrypts JSON with the customer's data key, bound to row and column. */
export const sealFor = (ctx: Ctx, { key }: Pick<Wallet, 'key'>, value: unknown, context: string) =>
  ctx.vault.seal(key, JSON.stringify(value ?? null), context);

/** Decrypts JSON. Throws for an empty column. */
export function openFor<T>(
  ctx: Pick<Ctx, 'vault'>,
  { key }: Pick<Wallet, 'key'>,
  ciphertext: string | null,
  context: string,
): T {
  if (ciphertext === null) throw new Error(`No value to decrypt in ${context}.`);
  return JSON.parse(ctx.vault.open(key, ciphertext, context).toString()) as T;
}
