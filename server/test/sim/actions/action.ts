// What an actor may do, as data: how often, when at all, and how. The note that `run` answers goes into the
// trace, which two runs of one seed must share; so it names amounts, places in lists and codes, and no ids.
import {
  type Answer,
  broken,
  type Outside,
  type Person,
  type Purse,
  type Sim,
} from '../world/sim.ts';

export interface Action {
  name: string;
  weight: number;
  /** Absent: always. */
  ready?(sim: Sim): boolean;
  run(sim: Sim): Promise<string>;
}

/** The code of a refusal, which must be one of those named. */
export function refusal(answer: Answer, codes: readonly string[]): string | undefined {
  if (answer.status < 400) return undefined;
  const { code } = answer.body as { code: string };
  if (!codes.includes(code)) {
    throw broken(`refused with ${code} (${JSON.stringify(answer.body)}), not ${codes.join(', ')}`);
  }
  return code;
}

/** Whether a reply is as foretold: the code of the refusal, or undefined where it was done. */
export function judge(answer: Answer, codes: readonly string[], what: string): string | undefined {
  const code = refusal(answer, codes);
  if (codes.length && !code) throw broken(`${what}: done; expected ${codes.join(' or ')}`);
  return code;
}

/** The body of a reply that must have this status. */
export function expected(answer: Answer, status: number): Answer['body'] {
  if (answer.status !== status) {
    throw broken(`answered ${answer.status} and not ${status}: ${JSON.stringify(answer.body)}`);
  }
  return answer.body;
}

export const living = (sim: Sim): Person[] => sim.people.filter((each) => !each.gone);

/** Whoever may pay without being asked whether it is really them. */
export const payers = (sim: Sim): Person[] =>
  living(sim).filter((each) => each.ready && !each.strong);

/** Whose money the sandbox makes. */
export const inSandbox = ({ platform }: Pick<Person, 'platform'>): boolean =>
  platform.environment === 'sandbox';

/** Currencies that payments start in here; their amounts are of a like size. */
export const PAID_IN = ['USD', 'EUR', 'GBP', 'MXN', 'USDC'];

export function purseOf(sim: Sim, person: Person, currencies: readonly string[]): Purse {
  const held = currencies.flatMap((each) => person.purses.get(each) ?? []);
  return sim.chance.of(held);
}

/** Whether its owner said that payments to the account need no proof each. */
export const isTrusted = ({ picture }: Sim, account: Outside | null): boolean =>
  account !== null && (picture.outside.get(account.id)?.trusted_at ?? null) !== null;
