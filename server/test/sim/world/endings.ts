// How a payment must end that goes to an account of the sandbox: the last three characters of the account's
// number say so. Written from the tables of the specification; the simulator holds the server to it.

export interface Ending {
  status: 'COMPLETED' | 'FAILED' | 'EXPIRED';
  refund: 'NONE' | 'COMPLETED' | 'FAILED';
}

const WELL: Ending = { status: 'COMPLETED', refund: 'NONE' };
const BACK: Ending = { status: 'FAILED', refund: 'COMPLETED' };
export const LAPSED: Ending = { status: 'EXPIRED', refund: 'NONE' };

/** Payments that a quote asked for, by the end of the account they go to. */
const QUOTE: Readonly<Record<string, Ending>> = {
  '002': BACK,
  '003': WELL,
  '004': BACK,
  '005': BACK,
  '006': { status: 'COMPLETED', refund: 'COMPLETED' },
  '007': { status: 'FAILED', refund: 'FAILED' },
};

/** Transfers within one currency. */
const TRANSFER: Readonly<Record<string, Ending>> = {
  '002': BACK,
  '003': BACK,
  '004': BACK,
  '005': BACK,
};

/** Every ending of an account that means something, those of names among them, and some that do not. */
export const SUFFIXES = ['000', '002', '003', '004', '005', '006', '007', '102', '103', '789'];

export const endingOf = (kind: 'quote' | 'transfer', suffix: string | null): Ending =>
  (suffix !== null && (kind === 'quote' ? QUOTE : TRANSFER)[suffix]) || WELL;

/** Money that is pulled: what does not come is nobody's, so nothing goes back. */
export const pullEnding = (suffix: string): Ending =>
  TRANSFER[suffix] ? { status: 'FAILED', refund: 'NONE' } : WELL;

/** UMA addresses of the sandbox that are documented; null is nobody's. */
export const ADDRESSES: Readonly<Record<string, Ending | null>> = {
  '$success.usd': WELL,
  '$success.eur': WELL,
  '$success.mxn': WELL,
  '$pending.long.usd': WELL,
  '$fail.compliance.usd': BACK,
  '$non.existent.usd': null,
};
