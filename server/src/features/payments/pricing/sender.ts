// What a receiving country wants to know of a business that pays into it, and a business may not have told
// us yet. Asked when a payment is quoted, so that nobody learns of it after the money was taken.
import { invalid } from '../../../kernel/fault.ts';
import type { Vault } from '../../../runtime/security/vault.ts';
import { type CustomerRow, personalOf } from '../../customers/records/index.ts';

/** Currencies whose banks ask for the number that a paying business is registered under. */
const ASK_REGISTRATION: ReadonlySet<string> = new Set(
  'GBP INR BRL DKK PHP HKD IDR MYR SGD THB VND AED'.split(' '),
);

/** Throws MISSING_MANDATORY_USER_INFO that names everything the business has to add to its profile. */
export function checkSender(vault: Vault, customer: CustomerRow, to: string): void {
  if (customer.type !== 'BUSINESS') return;
  const firm = personalOf(vault, customer).details.businessInfo;
  const missing = [
    ...(firm?.businessType ? [] : ['businessType']),
    ...(ASK_REGISTRATION.has(to) && !firm?.registrationNumber ? ['registrationNumber'] : []),
  ];
  if (missing.length === 0) return;
  const errors = missing.map((name) => ({
    field: `businessInfo.${name}`,
    message: `is required of a business that pays ${to}`,
  }));
  throw invalid(errors, 'MISSING_MANDATORY_USER_INFO');
}
