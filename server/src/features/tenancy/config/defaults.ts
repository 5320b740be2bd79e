// Default settings of a platform.
import { MAX_AMOUNT } from '../../../kernel/money.ts';
import type { PlatformCurrency } from '../platform/index.ts';

/** Default settings of an enabled currency: all amounts, both directions. */
export const openCurrency = (currencyCode: string): PlatformCurrency => ({
  currencyCode,
  minAmount: 1,
  maxAmount: Number(MAX_AMOUNT),
  requiredCounterpartyFields: [],
  enabledTransactionTypes: ['INCOMING', 'OUTGOING'],
});

/** Domain of the UMA addresses of a platform that has not set one. */
export const defaultUmaDomain = (subdomain: string): string => `${subdomain}.uma.localhost`;
