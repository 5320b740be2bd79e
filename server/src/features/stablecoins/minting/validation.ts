// Validation of a mint or burn before the provider is called. Pure functions check the coin, the
// amount, and reserved sources and destinations.
import type { LinkProblem } from '../../../connectors/ports/stablecoins.ts';
import { type Code, Fault, invalidField } from '../../../kernel/fault.ts';
import type { StablecoinRow } from '../store.ts';

/** Maximum supply in minor units. Twice this amount fits into a ledger balance. */
export const MAX_UNITS = 4_000_000_000_000_000_000n;

export function checkProvisioned({ issuance_status: status }: StablecoinRow): void {
  if (status === 'PROVISIONED') return;
  throw new Fault(
    'STABLECOIN_NOT_PROVISIONED',
    `The stablecoin is ${status} and cannot be minted or burned.`,
  );
}

/** Funds have two decimals, regardless of the decimals of the token. */
const unitsOfCent = (decimals: number): bigint => 10n ** BigInt(Math.max(0, decimals - 2));

/** Parses an amount. Leading zeros are ignored. */
export function amountOf(text: string, { decimals }: Pick<StablecoinRow, 'decimals'>): bigint {
  const amount = BigInt(text);
  if (amount > MAX_UNITS) throw invalidField('amount', `must be at most ${MAX_UNITS}`);
  const cent = unitsOfCent(decimals);
  if (amount === 0n || amount % cent !== 0n) {
    throw invalidField(
      'amount',
      `must be a positive multiple of ${cent}, which is one cent`,
      'STABLECOIN_AMOUNT_NOT_REPRESENTABLE',
    );
  }
  return amount;
}

/**
 * The error for an account of the service as source or destination, which no stablecoin supports
 * yet. `code` is the error code for an enabled stablecoin.
 */
export function reservedFault(coin: StablecoinRow, code: Code): Fault {
  if (coin.service_status !== 'ENABLED') {
    return new Fault(
      'STABLECOIN_SERVICE_OPERATIONS_NOT_ENABLED',
      'Internal accounts cannot be used for this stablecoin.',
    );
  }
  return new Fault(code, 'Internal accounts cannot be used for mints and burns yet.');
}

const PROBLEMS: Readonly<Record<LinkProblem, readonly [Code, string]>> = {
  LINK_FAILED: [
    'STABLECOIN_EXTERNAL_ACCOUNT_LINK_FAILED',
    'The provider could not register this account.',
  ],
  LINK_METHOD_REQUIRED: [
    'STABLECOIN_EXTERNAL_ACCOUNT_LINK_METHOD_REQUIRED',
    'The provider cannot register this account from its details.',
  ],
  NOT_LINKED: [
    'STABLECOIN_EXTERNAL_ACCOUNT_NOT_LINKED',
    'The account is not registered with the provider, or its registration has expired.',
  ],
  NOT_SUPPORTED: [
    'STABLECOIN_EXTERNAL_ACCOUNT_NOT_SUPPORTED',
    'The provider does not support this use of the account.',
  ],
  PROVIDER_LINK_REQUIRED: [
    'STABLECOIN_EXTERNAL_ACCOUNT_PROVIDER_LINK_REQUIRED',
    'To be debited, this account must be connected at the provider by a login at the bank.',
  ],
  PROVIDER_LINK_FAILED: [
    'STABLECOIN_EXTERNAL_ACCOUNT_PROVIDER_LINK_FAILED',
    'The bank rejected the connection of this account at the provider, or requires a new login.',
  ],
};

export const linkFault = (problem: LinkProblem, externalAccountId: string): Fault =>
  new Fault(...PROBLEMS[problem], { externalAccountId });
