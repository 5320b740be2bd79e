// Validation of the terms of a provider, and their stored form.
import { findCurrency } from '../../../catalog/currencies/currencies.ts';
import { isTimeZone } from '../../../catalog/rails/settlement-dates.ts';
import type { FieldError } from '../../../kernel/fault.ts';
import type { ProviderRow } from '../store.ts';
import type { ProviderTerms } from './contract.ts';

/** Errors of items whose value of `name` occurred before. */
const repetitionErrors = <T>(
  listName: string,
  items: readonly T[],
  name: keyof T & string,
): FieldError[] =>
  items.flatMap((item, index) =>
    items.findIndex((otherItem) => otherItem[name] === item[name]) < index
      ? [{ field: `${listName}.${index}.${name}`, message: 'repeats an earlier entry' }]
      : [],
  );

const currencyErrors = (listName: string, items: readonly { currency: string }[]): FieldError[] => [
  ...items.flatMap(({ currency }, index) =>
    findCurrency(currency)
      ? []
      : [{ field: `${listName}.${index}.currency`, message: 'must be a supported currency' }],
  ),
  ...repetitionErrors(listName, items, 'currency'),
];

/** Errors of terms that match the schema. */
export function termsErrors(terms: ProviderTerms): FieldError[] {
  const { limits = [], cutOffs = [], prefunding = [], autoPause } = terms;
  const limitErrors = limits.flatMap(({ perTransfer, perDay }, index) =>
    perTransfer !== undefined && perDay !== undefined && perDay < perTransfer
      ? [{ field: `limits.${index}.perDay`, message: 'must not be less than perTransfer' }]
      : [],
  );
  const timeZoneErrors = cutOffs.flatMap(({ timeZone }, index) =>
    isTimeZone(timeZone)
      ? []
      : [{ field: `cutOffs.${index}.timeZone`, message: 'must be an IANA time zone' }],
  );
  const hasRate = autoPause?.errorPercent !== undefined || autoPause?.returnPercent !== undefined;
  return [
    ...currencyErrors('limits', limits),
    ...limitErrors,
    ...repetitionErrors('cutOffs', cutOffs, 'rail'),
    ...timeZoneErrors,
    ...currencyErrors('prefunding', prefunding),
    ...(autoPause && !hasRate
      ? [{ field: 'autoPause.errorPercent', message: 'is required if returnPercent is absent' }]
      : []),
  ];
}

/** The stored terms. Fields of a later version are ignored. */
export const termsOf = ({ terms }: Pick<ProviderRow, 'terms'>): ProviderTerms =>
  JSON.parse(terms) as ProviderTerms;
