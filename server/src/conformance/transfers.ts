// Transfers of a session. An adapter in its test mode reads the outcome of a transfer from its
// remittance information. For a bank whose sandbox has other rules, a file sets the fields for each
// outcome.
import type { Static } from '@sinclair/typebox';
import { exampleOf } from '../catalog/accounts/account-examples.ts';
import { beneficiaryNameOf } from '../catalog/accounts/account-info.ts';
import {
  ACCOUNT_TYPE_ROWS,
  ACCOUNT_TYPES,
  type AccountType,
} from '../catalog/accounts/account-types.ts';
import {
  type Capabilities,
  Transfer as TransferSchema,
} from '../connectors/ports/providers/protocol.ts';
import { fieldErrors } from '../kernel/contract/validate.ts';
import { type Effects, iso } from '../kernel/effects.ts';
import { uuid7 } from '../kernel/id.ts';

export type Transfer = Static<typeof TransferSchema>;
type Capability = NonNullable<Capabilities['transfers']>[number];

/**
 * Outcomes that a check can request, with the remittance information that produces them in the test
 * mode.
 */
const OUTCOMES = {
  settled: 'TEST SETTLED',
  failed: 'TEST FAILED',
  /** Settled, then returned. */
  returned: 'TEST RETURNED',
  /** Accepted until it is canceled. */
  held: 'TEST HELD',
  /** Settled. The same amount is then received for the reference of the transfer. */
  deposit: 'TEST DEPOSIT',
  /** Settled. Its recall is granted, and recalls of all other transfers are rejected. */
  recalled: 'TEST RECALLED',
} as const;
export type Outcome = keyof typeof OUTCOMES;

/** Fields of the file `--transfers`. */
export interface TransferSettings {
  /** Fields of every transfer. */
  readonly transfer?: Readonly<Record<string, unknown>>;
  /** Fields of the transfers with each outcome. Null: the adapter cannot produce the outcome. */
  readonly outcomes?: Readonly<Partial<Record<Outcome, Readonly<Record<string, unknown>> | null>>>;
}

const DEFAULT_AMOUNT = 12_34;

/** Returns a fictitious account that the capability supports, or else one of the first type. */
function accountFor({ rails, currencies, countries }: Capability, currency: string) {
  const types = ACCOUNT_TYPES.filter((type) => {
    const { country, rails: accountRails, ...row } = ACCOUNT_TYPE_ROWS[type];
    const hasRail = accountRails.some((rail) => rails.includes(rail));
    const hasCountry = !country || !countries || countries.includes(country);
    const acceptedCurrencies = row.currencies.length > 0 ? row.currencies : currencies;
    return hasRail && hasCountry && acceptedCurrencies.includes(currency);
  });
  return exampleOf((types[0] ?? ACCOUNT_TYPES[0]) as AccountType);
}

const clamp = (value: number, min = 1, max = value) => Math.min(Math.max(value, min), max);

export function transferMaker(
  effects: Effects,
  [capability]: readonly Capability[],
  { transfer = {}, outcomes = {} }: TransferSettings,
): (outcome: Outcome) => Transfer | undefined {
  return (outcome) => {
    const fields = outcomes[outcome];
    if (!capability || fields === null) return undefined;
    const { kinds, rails, currencies, minAmount, maxAmount } = capability;
    const [currency = ''] = currencies;
    const id = uuid7(effects);
    const account = accountFor(capability, currency);
    const createdTransfer = {
      transferId: `Transaction:${id}`,
      kind: kinds.includes('payout') ? ('payout' as const) : kinds[0],
      rail: rails[0],
      amount: clamp(DEFAULT_AMOUNT, minAmount, maxAmount),
      currency,
      account,
      beneficiaryName: beneficiaryNameOf(account) ?? 'Megan Foster',
      reference: id.replaceAll('-', '').toUpperCase(),
      firstSentAt: iso(effects.now()),
      ...transfer,
      ...(fields ?? { remittanceInformation: OUTCOMES[outcome] }),
    };
    const [error] = fieldErrors(TransferSchema, createdTransfer, 'body');
    if (error) throw new Error(`--transfers: the field ${error.field} ${error.message}`);
    return createdTransfer as Transfer;
  };
}
