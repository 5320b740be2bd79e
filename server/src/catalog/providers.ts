// What banks at the destination want to know about our own customer who sends, beyond what a
// customer has anyway. What is missing refuses a quote, by name, before any money has left.
import type { CounterpartyFieldName } from './field-names.ts';

export type CustomerType = 'INDIVIDUAL' | 'BUSINESS';

/** Banks there want the number of the firm that sends. */
const FIRM_NUMBER = new Set('GBP INR BRL DKK PHP HKD IDR MYR SGD THB VND AED'.split(' '));

/** Fields our customer must have on file to send money into this currency. */
export function requiredToSend(
  destinationCurrency: string,
  type: CustomerType,
): readonly CounterpartyFieldName[] {
  if (type === 'INDIVIDUAL') return [];
  return FIRM_NUMBER.has(destinationCurrency)
    ? ['REGISTRATION_NUMBER', 'BUSINESS_TYPE']
    : ['BUSINESS_TYPE'];
}
