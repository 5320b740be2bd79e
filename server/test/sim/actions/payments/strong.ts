// Customers subject to strong authentication: they verify telephones, log in, fail, are locked out
// and reset, and trust external accounts. The sandbox accepts one code for all. The state of a
// customer is known from the change log, and each reply is predicted from it.
import { operator, outcome } from '../../harness/operator.ts';
import { type Person, type Sim, violation } from '../../harness/sim.ts';
import {
  type Action,
  activePeople,
  checkReply,
  expected,
  inSandbox,
  payers,
  rejection,
} from '../action.ts';
import { digits, openInternalAccounts } from './parties.ts';

export const CODE = '123456';
const WRONG_CODE = '111111';
export const ADDRESS = '203.0.113.7';
const MINUTE = 60_000;
const SESSION_MS = 180 * 24 * 60 * MINUTE;
const MAX_CUSTOMERS = 8;

export type Strong = Person & { strong: { proven: boolean } };

/** Customers subject to strong authentication. */
export const strong = (sim: Sim): Strong[] =>
  activePeople(sim).filter((each): each is Strong => each.strong !== undefined);

const lockoutOf = ({ model }: Sim, { id }: Person) => model.authentication.lockouts.get(id ?? '');

export function isLocked(sim: Sim, person: Person): boolean {
  const lockout = lockoutOf(sim, person);
  if (lockout?.suspended === 'true') return true;
  return Date.parse(lockout?.locked_until ?? '') > sim.effects.now();
}

export const isLoggedIn = (sim: Sim, person: Person): boolean =>
  Date.parse(lockoutOf(sim, person)?.session_expires_at ?? '') > sim.effects.now();

/** Kinds of proof: usually right and in time. */
export const WAYS = [
  { name: 'right', weight: 12 },
  { name: 'wrong', weight: 4 },
  { name: 'late', weight: 1 },
] as const;
export type Method = (typeof WAYS)[number]['name'];

export const codeOf = (method: Method) => (method === 'wrong' ? WRONG_CODE : CODE);

/** Sandbox platforms whose customers are approved at creation. */
const homes = ({ platforms }: Sim) =>
  platforms.filter((platform) => platform.regulated && inSandbox({ platform }));

async function add(sim: Sim): Promise<string> {
  const platform = sim.chance.of(homes(sim));
  const n = sim.next();
  const body = {
    customerType: 'INDIVIDUAL',
    region: 'DE',
    platformCustomerId: `person-${n}`,
    email: `person-${n}@example.org`,
    phoneNumber: `+4915${digits(9, 112_000_000 + n)}`,
    fullName: 'Lise Meitner',
    birthDate: '1990-01-15',
    nationality: 'DE',
    address: { line1: 'Ring 1', city: 'Berlin', postalCode: '10115', country: 'DE' },
  };
  const { id } = expected(await sim.call('POST', '/customers', body, platform), 201);
  const person: Strong = {
    ...{ id, platform, ready: true, deleted: false, internalAccounts: new Map() },
    strong: { proven: false },
  };
  await openInternalAccounts(sim, person);
  sim.people.push(person);
  for (const currency of ['EUR', 'USDC']) {
    const internalAccount = person.internalAccounts.get(currency);
    if (!internalAccount) throw violation(`${id} has no ${currency}`);
    const amount = sim.chance.between(200_000, 900_000);
    const path = `/sandbox/internal-accounts/${internalAccount.id}/fund`;
    expected(await sim.call('POST', path, { amount }, platform), 200);
    internalAccount.due += BigInt(amount);
  }
  const platformLabel = `of ${sim.platforms.indexOf(platform)}`;
  if (sim.chance.percent(15)) return platformLabel;
  const proven = await prove(sim, person, 'right');
  return `${platformLabel}: ${proven}, ${await logIn(sim, person)}`;
}

/** Verifies the customer's telephone. */
async function prove(sim: Sim, person: Strong, method: Method): Promise<string> {
  const path = `/customers/${person.id}/verify-phone`;
  const expectedCodes = person.strong.proven ? ['CONFLICT'] : ['RATE_LIMITED'];
  const sent = rejection(await sim.call('POST', path, undefined, person.platform), expectedCodes);
  if (sent) return sent;
  if (method === 'late') sim.effects.pass(11 * MINUTE);
  const code = { code: codeOf(method) };
  const response = await sim.call('POST', `${path}/confirm`, code, person.platform);
  if (method !== 'right')
    return rejection(response, ['INVALID_INPUT']) ?? reportAcceptedCode(method, path);
  expected(response, 200);
  person.strong.proven = true;
  return 'proven';
}

function reportAcceptedCode(method: Method, operation: string): never {
  throw violation(`${operation} accepts a code that is ${method}`);
}

/** Predicted error codes of a proof for a new challenge. */
function loginCodes(sim: Sim, person: Strong, method: Method): string[] {
  if (isLocked(sim, person)) return ['ACCOUNT_LOCKED'];
  return method === 'right' ? [] : ['INVALID_INPUT'];
}

/** Usually a customer who can pay after the login. */
function someLoggedOut(sim: Sim): Strong {
  const all = strong(sim);
  const loggedOut = all.filter(
    (each) => each.strong.proven && !isLocked(sim, each) && !isLoggedIn(sim, each),
  );
  return sim.chance.of(loggedOut.length && sim.chance.percent(80) ? loggedOut : all);
}

async function logIn(sim: Sim, person = someLoggedOut(sim)): Promise<string> {
  const { id, platform } = person;
  const at = (step: string) => `/sca/login/${step}?customerId=${id}`;
  const factor = 'SMS_OTP';
  const start = await sim.call('POST', at('start'), { factor }, platform);
  const startCode = checkReply(start, person.strong.proven ? [] : ['INVALID_INPUT'], at('start'));
  if (startCode) return startCode;
  const { challengeId } = expected(start, 200);
  const method = sim.chance.weighed(WAYS).name;
  if (method === 'late') sim.effects.pass(5 * MINUTE);
  const codes = loginCodes(sim, person, method);
  const proof = { factor, challengeId, code: codeOf(method), endUserIpAddress: ADDRESS };
  const response = await sim.call('POST', at('complete'), proof, platform);
  const rejected = checkReply(response, codes, at('complete'));
  if (rejected) return `${method}: ${rejected}`;
  const { sessionExpiresAt } = expected(response, 200);
  const until = Date.parse(sessionExpiresAt);
  if (until !== sim.effects.now() + SESSION_MS)
    throw violation(`a login until ${sessionExpiresAt}`);
  return 'in';
}

/** A wrong password, once or until the account is locked. */
async function fail(sim: Sim): Promise<string> {
  const person = sim.chance.of(strong(sim));
  const times = sim.chance.of([1, 1, 2, 5]);
  const path = `/sca/record-event?customerId=${person.id}`;
  const body = { eventType: 'FAILED_LOGIN_ATTEMPT' };
  let failed = Number(lockoutOf(sim, person)?.failed_attempts ?? 0);
  let isFrozen = isLocked(sim, person);
  for (let index = 0; index < times; index++) {
    const response = await sim.call('POST', path, body, person.platform);
    const rejected = checkReply(response, isFrozen ? ['ACCOUNT_LOCKED'] : [], path);
    if (!rejected) failed++;
    const { failedAttempts, suspended, lockedUntil } = rejected
      ? response.body.details
      : response.body;
    if (failedAttempts !== failed) throw violation(`${person.id} failed ${failed} times`);
    isFrozen = suspended || (lockedUntil ?? null) !== null;
    if (isFrozen !== (rejected !== undefined || failed >= 5))
      throw violation(`${path}: ${isFrozen}`);
  }
  return `${failed}${isFrozen ? ', locked' : ''}`;
}

async function reset(sim: Sim): Promise<string> {
  const all = strong(sim);
  const isFrozen = all.filter((each) => isLocked(sim, each));
  const person = sim.chance.of(isFrozen.length && sim.chance.percent(80) ? isFrozen : all);
  const path = `/sca/record-event?customerId=${person.id}`;
  const body = { eventType: 'RESET_PASSWORD_COMPLETED' };
  const reply = expected(await sim.call('POST', path, body, person.platform), 200);
  const free =
    reply.failedAttempts === 0 && !reply.suspended && (reply.lockedUntil ?? null) === null;
  if (!free) throw violation(`${person.id} is still locked: ${JSON.stringify(reply)}`);
  return isFrozen.includes(person) ? 'unlocked' : 'unchanged';
}

const accounts = (sim: Sim) =>
  sim.externalAccounts.filter(({ owner, deleted }) => owner.strong && !deleted);

async function setTrust(sim: Sim): Promise<string> {
  const account = sim.chance.of(accounts(sim));
  const person = account.owner as Strong;
  const action = sim.chance.percent(65) ? 'trust' : 'untrust';
  const path = `/customers/external-accounts/${account.id}/${action}`;
  const locked = isLocked(sim, person);
  const isFrozen = person.strong.proven ? [] : ['INVALID_INPUT'];
  const start = await sim.call('POST', path, undefined, person.platform);
  const firstCheckReply = checkReply(start, locked ? ['ACCOUNT_LOCKED'] : isFrozen, path);
  if (firstCheckReply) return `${action}: ${firstCheckReply}`;
  const { id: challengeId } = expected(start, 200).scaChallenge;
  const method = sim.chance.weighed(WAYS).name;
  if (method === 'late') sim.effects.pass(5 * MINUTE);
  const proof = { code: codeOf(method), ...(sim.chance.percent(50) ? { challengeId } : {}) };
  const response = await sim.call('POST', `${path}/confirm`, proof, person.platform);
  const rejected = checkReply(response, loginCodes(sim, person, method), path);
  if (rejected) return `${action} ${method}: ${rejected}`;
  if (expected(response, 200).trusted !== (action === 'trust'))
    throw violation(`${path} did nothing`);
  // A proof is valid once.
  const secondResponse = await sim.call('POST', `${path}/confirm`, proof, person.platform);
  checkReply(secondResponse, ['INVALID_INPUT'], path);
  return action;
}

/** Other customers have no challenges. */
async function challengeExempt(sim: Sim): Promise<string> {
  const person = sim.chance.of(payers(sim).filter(({ id }) => id !== null));
  const path = `/sca/login/start?customerId=${person.id}`;
  const response = await sim.call('POST', path, { factor: 'SMS_OTP' }, person.platform);
  return checkReply(response, ['CONFLICT'], path) ?? '';
}

async function setSteps(sim: Sim): Promise<string> {
  const platform = sim.chance.of(sim.platforms.filter((each) => inSandbox({ platform: each })));
  const flag = sim.chance.of(['--sca-two-steps', '--sca-two-steps', '--no-sca-two-steps']);
  outcome(await operator(sim, 'platform', 'set', platform.id, flag), true, flag);
  return `${flag} of ${sim.platforms.indexOf(platform)}`;
}

const anyStrong = (sim: Sim) => strong(sim).length > 0;

export const STRONG: readonly Action[] = [
  {
    name: 'add a customer with strong authentication',
    weight: 5,
    ready: (sim) => strong(sim).length < MAX_CUSTOMERS && homes(sim).length > 0,
    run: add,
  },
  {
    name: 'verify a telephone',
    weight: 1,
    ready: anyStrong,
    run: (sim) => {
      const all = strong(sim);
      const unverified = all.filter((each) => !each.strong.proven);
      return prove(
        sim,
        sim.chance.of(unverified.length ? unverified : all),
        sim.chance.weighed(WAYS).name,
      );
    },
  },
  { name: 'log in', weight: 5, ready: anyStrong, run: (sim) => logIn(sim) },
  { name: 'fail to log in', weight: 1, ready: anyStrong, run: fail },
  { name: 'reset a password', weight: 0.8, ready: anyStrong, run: reset },
  { name: 'trust an account', weight: 4, ready: (sim) => accounts(sim).length > 0, run: setTrust },
  {
    name: 'challenge a customer without strong authentication',
    weight: 0.3,
    ready: (sim) => payers(sim).some(({ id }) => id !== null),
    run: challengeExempt,
  },
  { name: 'set the authentication steps of a payment', weight: 1.5, run: setSteps },
];
