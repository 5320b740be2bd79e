// Parser of UMA addresses, `$name@host`. The feature `customers` has the rules for the names of
// customers of this server.
import { invalid } from '../../kernel/fault.ts';

const NAME = /^\$[a-z0-9\-_.+]{1,63}$/;
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const HOST = new RegExp(`^(?=.{1,253}(?::|$))${LABEL}(?:\\.${LABEL})*(?::[0-9]{1,5})?$`);

export interface UmaAddress {
  /** In lower case, for comparison. */
  address: string;
  /** Host of the provider, with the port if present. */
  host: string;
}

/** Undefined for a string that is not a UMA address. */
export function parseUmaAddress(text: string): UmaAddress | undefined {
  const address = text.toLowerCase();
  const separatorIndex = address.indexOf('@');
  const [name, host] = [address.slice(0, separatorIndex), address.slice(separatorIndex + 1)];
  return separatorIndex > 0 && NAME.test(name) && HOST.test(host) ? { address, host } : undefined;
}

/**
 * Parses the addresses that are present, by field. Throws INVALID_UMA_ADDRESS with one error per
 * invalid field.
 */
export function parseUmaAddresses<F extends string>(
  addresses: Readonly<Record<F, string | undefined>>,
): Partial<Record<F, UmaAddress>> {
  const entries = Object.entries(addresses) as [F, string | undefined][];
  const presentEntries = entries.filter((entry): entry is [F, string] => entry[1] !== undefined);
  const parsedEntries = presentEntries.map(
    ([field, text]) => [field, parseUmaAddress(text)] as const,
  );
  const invalidFields = parsedEntries.filter(([, address]) => address === undefined);
  if (invalidFields.length) {
    const errors = invalidFields.map(([field]) => ({
      field,
      message: 'must have the form $name@example.com',
    }));
    throw invalid(errors, 'INVALID_UMA_ADDRESS');
  }
  return Object.fromEntries(parsedEntries) as Partial<Record<F, UmaAddress>>;
}
