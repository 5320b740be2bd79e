// Syntax of UMA addresses, `$name@host`. Rules for the names of own customers are in `customers`.
import { invalid } from '../../kernel/fault.ts';

const NAME = /^\$[a-z0-9\-_.+]{1,63}$/;
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const HOST = new RegExp(`^(?=.{1,253}(?::|$))${LABEL}(?:\\.${LABEL})*(?::[0-9]{1,5})?$`);

export interface UmaAddress {
  /** In lower case, as addresses are compared. */
  address: string;
  /** Host of its provider, with a port if there is one. */
  host: string;
}

/** The parts of a UMA address, or undefined for an invalid one. */
export function readUma(text: string): UmaAddress | undefined {
  const address = text.toLowerCase();
  const at = address.indexOf('@');
  const [name, host] = [address.slice(0, at), address.slice(at + 1)];
  return at > 0 && NAME.test(name) && HOST.test(host) ? { address, host } : undefined;
}

/** The parts of each address, by field. Throws INVALID_UMA_ADDRESS with every invalid one. */
export function umaAddresses<F extends string>(
  given: Readonly<Record<F, string | undefined>>,
): Partial<Record<F, UmaAddress>> {
  const entries = Object.entries(given) as [F, string | undefined][];
  const present = entries.filter((entry): entry is [F, string] => entry[1] !== undefined);
  const read = present.map(([field, text]) => [field, readUma(text)] as const);
  const bad = read.filter(([, parts]) => parts === undefined);
  if (bad.length) {
    const errors = bad.map(([field]) => ({
      field,
      message: 'must have the form $name@example.com',
    }));
    throw invalid(errors, 'INVALID_UMA_ADDRESS');
  }
  return Object.fromEntries(read) as Partial<Record<F, UmaAddress>>;
}
