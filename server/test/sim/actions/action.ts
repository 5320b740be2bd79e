// Actions as data: frequency, condition and effect. The text that `run` returns is a line of the
// trace. The trace is the same for every run of a seed, so it contains amounts and codes and no
// IDs.
import {
  type ApiResponse,
  type ExternalAccount,
  type InternalAccount,
  type Person,
  type Sim,
  violation,
} from '../harness/sim.ts';

export interface Action {
  name: string;
  weight: number;
  /** Absent if the action is always possible. */
  isPossible?(sim: Sim): boolean;
  run(sim: Sim): Promise<string>;
}

/** Error code of a rejected request, or undefined if it succeeded. Throws for other codes. */
export function rejectionCode(response: ApiResponse, codes: readonly string[]): string | undefined {
  if (response.status < 400) return undefined;
  const { code } = response.body as { code: string };
  if (!codes.includes(code)) {
    throw violation(
      `rejected with ${code} (${JSON.stringify(response.body)}), not ${codes.join(', ')}`,
    );
  }
  return code;
}

/**
 * Error code, or undefined if the request succeeded. Throws unless the code is one of `codes`. If
 * `codes` is empty, the request must succeed.
 */
export function checkReply(
  response: ApiResponse,
  codes: readonly string[],
  description: string,
): string | undefined {
  const code = rejectionCode(response, codes);
  if (codes.length && !code)
    throw violation(`${description}: succeeded, expected ${codes.join(' or ')}`);
  return code;
}

/** The body of a reply that must have this status. */
export function bodyOf(response: ApiResponse, status: number): ApiResponse['body'] {
  if (response.status !== status) {
    throw violation(`returned ${response.status}, not ${status}: ${JSON.stringify(response.body)}`);
  }
  return response.body;
}

export const activePeople = (sim: Sim): Person[] =>
  sim.people.filter((person) => !person.isDeleted);

/** Active owners who may pay without strong authentication. */
export const payers = (sim: Sim): Person[] =>
  activePeople(sim).filter((person) => person.mayPay && !person.strongAuthentication);

/** Whether the sandbox settles the payments of the owner. */
export const isInSandbox = ({ platform }: Pick<Person, 'platform'>): boolean =>
  platform.environment === 'sandbox';

/** Source currencies of payments. Their amounts have a similar size. */
export const PAYMENT_CURRENCIES = ['USD', 'EUR', 'GBP', 'MXN', 'USDC'];

export function pickInternalAccount(
  sim: Sim,
  person: Person,
  currencies: readonly string[],
): InternalAccount {
  const accounts = currencies.flatMap((currency) => person.internalAccounts.get(currency) ?? []);
  return sim.chance.pick(accounts);
}

/** Whether payments to the account are exempt from strong authentication. */
export const isTrusted = ({ model }: Sim, account: ExternalAccount | null): boolean =>
  account !== null && (model.externalAccounts.get(account.id)?.trusted_at ?? null) !== null;
