// Purposes of payment for rails and regulators, and the currencies that require one.
import { named, oneOf } from '../../kernel/schema.ts';

export const PURPOSES_OF_PAYMENT = [
  'GIFT',
  'SELF',
  'GOODS_OR_SERVICES',
  'EDUCATION',
  'HEALTH_OR_MEDICAL',
  'REAL_ESTATE_PURCHASE',
  'TAX_PAYMENT',
  'LOAN_PAYMENT',
  'UTILITY_BILL',
  'DONATION',
  'TRAVEL',
  'FAMILY_SUPPORT',
  'SALARY_PAYMENT',
  'OTHER',
] as const;

export type PurposeOfPayment = (typeof PURPOSES_OF_PAYMENT)[number];

export const PurposeOfPayment = named(
  'PurposeOfPayment',
  oneOf(PURPOSES_OF_PAYMENT, {
    description: 'Purpose of the payment, for payment rails and regulators.',
  }),
);

// The Reserve Bank of India requires a purpose code for every inward remittance.
const CURRENCIES_REQUIRING_PURPOSE: ReadonlySet<string> = new Set(['INR']);

/** Whether a payout in this currency requires a purpose. */
export const requiresPurpose = (destinationCurrency: string): boolean =>
  CURRENCIES_REQUIRING_PURPOSE.has(destinationCurrency);
