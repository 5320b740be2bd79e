// Customers subject to strong authentication. They verify telephones, log in with right and wrong
// codes, reset lockouts and trust external accounts. The sandbox accepts one code for all
// customers. Each reply is predicted from the state of the customer in the change log.
import { checkOutcome, runVerb } from '../../harness/operator.ts';
import { type Person, type Sim, violation } from '../../harness/sim.ts';
import {
  type Action,
  activePeople,
  bodyOf,
  checkReply,
  isInSandbox,
  payers,
  rejectionCode,
} from '../action.ts';
import { digits, openInternalAccounts } from './parties.ts';

export const CODE = '123456';
const WRONG_CODE = '111111';
export const IP_ADDRESS = '203.0.113.7';
const MINUTE = 60_000;
const SESSION_MS = 180 * 24 * 60 * MINUTE;
const MAX_CUSTOMERS = 8;

export type StrongCustomer = Person & { strongAuthentication: { phoneVerified: boolean } };

/** Customers subject to strong authentication. */
export const strongCustomers = (sim: Sim): StrongCustomer[] =>
  activePeople(sim).filter(
    (person): person is StrongCustomer => person.strongAuthentication !== undefined,
  );

const lockoutOf = ({ model }: Sim, { id }: Person) => model.authentication.lockouts.get(id ?? '');

export function isLocked(sim: Sim, person: Person): boolean {
  const lockout = lockoutOf(sim, person);
  if (lockout?.suspended === 'true') return true;
  return Date.parse(lockout?.locked_until ?? '') > sim.effects.now();
}

export const isLoggedIn = (sim: Sim, person: Person): boolean =>
  Date.parse(lockoutOf(sim, person)?.session_expires_at ?? '') > sim.effects.now();

/** Kinds of proof. Most are right and in time. */
export const PROOF_VARIANTS = [
  { name: 'right', weight: 12 },
  { name: 'wrong', weight: 4 },
  { name: 'late', weight: 1 },
] as const;
export type ProofVariant = (typeof PROOF_VARIANTS)[number]['name'];

export const codeOf = (variant: ProofVariant) => (variant === 'wrong' ? WRONG_CODE : CODE);

/** Sandbox platforms whose customers are approved at creation. */
const regulatedSandboxes = ({ platforms }: Sim) =>
  platforms.filter((platform) => platform.regulated && isInSandbox({ platform }));

async function addCustomer(sim: Sim): Promise<string> {
  const platform = sim.chance.pick(regulatedSandboxes(sim));
  const number = sim.nextNumber();
  const body = {
    customerType: 'INDIVIDUAL',
    region: 'DE',
    platformCustomerId: `person-${number}`,
    email: `person-${number}@example.org`,
    phoneNumber: `+4915${digits(9, 112_000_000 + number)}`,
    fullName: 'Lise Meitner',
    birthDate: '1990-01-15',
    nationality: 'DE',
    address: { line1: 'Ring 1', city: 'Berlin', postalCode: '10115', country: 'DE' },
  };
  const { id } = bodyOf(await sim.call('POST', '/customers', body, platform), 201);
  const person: StrongCustomer = {
    ...{ id, platform, mayPay: true, isDeleted: false, internalAccounts: new Map() },
    strongAuthentication: { phoneVerified: false },
  };
  await openInternalAccounts(sim, person);
  sim.people.push(person);
  for (const currency of ['EUR', 'USDC']) {
    const internalAccount = person.internalAccounts.get(currency);
    if (!internalAccount) throw violation(`${id} has no ${currency} account`);
    const amount = sim.chance.integerBetween(200_000, 900_000);
    const path = `/sandbox/internal-accounts/${internalAccount.id}/fund`;
    bodyOf(await sim.call('POST', path, { amount }, platform), 200);
    internalAccount.expectedBalance += BigInt(amount);
  }
  const platformLabel = `of ${sim.platforms.indexOf(platform)}`;
  if (sim.chance.percent(15)) return platformLabel;
  const verification = await verifyPhone(sim, person, 'right');
  return `${platformLabel}: ${verification}, ${await logIn(sim, person)}`;
}

async function verifyPhone(
  sim: Sim,
  person: StrongCustomer,
  variant: ProofVariant,
): Promise<string> {
  const path = `/customers/${person.id}/verify-phone`;
  const expectedCodes = person.strongAuthentication.phoneVerified ? ['CONFLICT'] : ['RATE_LIMITED'];
  const rejection = rejectionCode(
    await sim.call('POST', path, undefined, person.platform),
    expectedCodes,
  );
  if (rejection) return rejection;
  if (variant === 'late') sim.effects.advance(11 * MINUTE);
  const proofBody = { code: codeOf(variant) };
  const response = await sim.call('POST', `${path}/confirm`, proofBody, person.platform);
  if (variant !== 'right')
    return rejectionCode(response, ['INVALID_INPUT']) ?? reportAcceptedCode(variant, path);
  bodyOf(response, 200);
  person.strongAuthentication.phoneVerified = true;
  return 'verified';
}

function reportAcceptedCode(variant: ProofVariant, operation: string): never {
  throw violation(`${operation} accepts a code that is ${variant}`);
}

/** Predicted error codes of a proof for a new challenge. */
function loginCodes(sim: Sim, person: StrongCustomer, variant: ProofVariant): string[] {
  if (isLocked(sim, person)) return ['ACCOUNT_LOCKED'];
  return variant === 'right' ? [] : ['INVALID_INPUT'];
}

/** Usually a customer who can pay after the login. */
function pickLoggedOutCustomer(sim: Sim): StrongCustomer {
  const customers = strongCustomers(sim);
  const loggedOutCustomers = customers.filter(
    (customer) =>
      customer.strongAuthentication.phoneVerified &&
      !isLocked(sim, customer) &&
      !isLoggedIn(sim, customer),
  );
  return sim.chance.pick(
    loggedOutCustomers.length && sim.chance.percent(80) ? loggedOutCustomers : customers,
  );
}

async function logIn(sim: Sim, person = pickLoggedOutCustomer(sim)): Promise<string> {
  const { id, platform } = person;
  const pathOf = (step: string) => `/sca/login/${step}?customerId=${id}`;
  const factor = 'SMS_OTP';
  const startResponse = await sim.call('POST', pathOf('start'), { factor }, platform);
  const startCode = checkReply(
    startResponse,
    person.strongAuthentication.phoneVerified ? [] : ['INVALID_INPUT'],
    pathOf('start'),
  );
  if (startCode) return startCode;
  const { challengeId } = bodyOf(startResponse, 200);
  const variant = sim.chance.pickWeighted(PROOF_VARIANTS).name;
  if (variant === 'late') sim.effects.advance(5 * MINUTE);
  const codes = loginCodes(sim, person, variant);
  const proof = { factor, challengeId, code: codeOf(variant), endUserIpAddress: IP_ADDRESS };
  const response = await sim.call('POST', pathOf('complete'), proof, platform);
  const rejection = checkReply(response, codes, pathOf('complete'));
  if (rejection) return `${variant}: ${rejection}`;
  const { sessionExpiresAt } = bodyOf(response, 200);
  const expiresMs = Date.parse(sessionExpiresAt);
  if (expiresMs !== sim.effects.now() + SESSION_MS)
    throw violation(`the login of ${id} expires at ${sessionExpiresAt}, not after 180 days`);
  return 'logged in';
}

/** Reports one, two or five wrong passwords. Five failures lock the account. */
async function recordFailures(sim: Sim): Promise<string> {
  const person = sim.chance.pick(strongCustomers(sim));
  const times = sim.chance.pick([1, 1, 2, 5]);
  const path = `/sca/record-event?customerId=${person.id}`;
  const body = { eventType: 'FAILED_LOGIN_ATTEMPT' };
  let failureCount = Number(lockoutOf(sim, person)?.failed_attempts ?? 0);
  let isLockedOut = isLocked(sim, person);
  for (let index = 0; index < times; index++) {
    const response = await sim.call('POST', path, body, person.platform);
    const rejection = checkReply(response, isLockedOut ? ['ACCOUNT_LOCKED'] : [], path);
    if (!rejection) failureCount++;
    const { failedAttempts, suspended, lockedUntil } = rejection
      ? response.body.details
      : response.body;
    if (failedAttempts !== failureCount)
      throw violation(`${person.id} has ${failedAttempts} failed attempts, not ${failureCount}`);
    isLockedOut = suspended || (lockedUntil ?? null) !== null;
    if (isLockedOut !== (rejection !== undefined || failureCount >= 5))
      throw violation(`${person.id} is locked: ${isLockedOut}, after ${failureCount} failures`);
  }
  return `${failureCount}${isLockedOut ? ', locked' : ''}`;
}

async function resetPassword(sim: Sim): Promise<string> {
  const customers = strongCustomers(sim);
  const lockedCustomers = customers.filter((customer) => isLocked(sim, customer));
  const person = sim.chance.pick(
    lockedCustomers.length && sim.chance.percent(80) ? lockedCustomers : customers,
  );
  const path = `/sca/record-event?customerId=${person.id}`;
  const body = { eventType: 'RESET_PASSWORD_COMPLETED' };
  const reply = bodyOf(await sim.call('POST', path, body, person.platform), 200);
  const isUnlocked =
    reply.failedAttempts === 0 && !reply.suspended && (reply.lockedUntil ?? null) === null;
  if (!isUnlocked) throw violation(`${person.id} is still locked: ${JSON.stringify(reply)}`);
  return lockedCustomers.includes(person) ? 'unlocked' : 'unchanged';
}

const externalAccountsOf = (sim: Sim) =>
  sim.externalAccounts.filter(({ owner, isDeleted }) => owner.strongAuthentication && !isDeleted);

async function setTrust(sim: Sim): Promise<string> {
  const account = sim.chance.pick(externalAccountsOf(sim));
  const person = account.owner as StrongCustomer;
  const action = sim.chance.percent(65) ? 'trust' : 'untrust';
  const path = `/customers/external-accounts/${account.id}/${action}`;
  const isLockedOut = isLocked(sim, person);
  const phoneErrors = person.strongAuthentication.phoneVerified ? [] : ['INVALID_INPUT'];
  const startResponse = await sim.call('POST', path, undefined, person.platform);
  const startCode = checkReply(startResponse, isLockedOut ? ['ACCOUNT_LOCKED'] : phoneErrors, path);
  if (startCode) return `${action}: ${startCode}`;
  const { id: challengeId } = bodyOf(startResponse, 200).scaChallenge;
  const variant = sim.chance.pickWeighted(PROOF_VARIANTS).name;
  if (variant === 'late') sim.effects.advance(5 * MINUTE);
  const proof = { code: codeOf(variant), ...(sim.chance.percent(50) ? { challengeId } : {}) };
  const response = await sim.call('POST', `${path}/confirm`, proof, person.platform);
  const rejection = checkReply(response, loginCodes(sim, person, variant), path);
  if (rejection) return `${action} ${variant}: ${rejection}`;
  if (bodyOf(response, 200).trusted !== (action === 'trust'))
    throw violation(`${path} did not change the trust`);
  // A proof is valid once.
  const secondResponse = await sim.call('POST', `${path}/confirm`, proof, person.platform);
  checkReply(secondResponse, ['INVALID_INPUT'], path);
  return action;
}

/** Customers without strong authentication have no challenges. */
async function challengeExemptCustomer(sim: Sim): Promise<string> {
  const person = sim.chance.pick(payers(sim).filter(({ id }) => id !== null));
  const path = `/sca/login/start?customerId=${person.id}`;
  const response = await sim.call('POST', path, { factor: 'SMS_OTP' }, person.platform);
  return checkReply(response, ['CONFLICT'], path) ?? '';
}

async function setSteps(sim: Sim): Promise<string> {
  const platform = sim.chance.pick(sim.platforms.filter((platform) => isInSandbox({ platform })));
  const flag = sim.chance.pick(['--sca-two-steps', '--sca-two-steps', '--no-sca-two-steps']);
  checkOutcome(await runVerb(sim, 'platform', 'set', platform.id, flag), true, flag);
  return `${flag} of ${sim.platforms.indexOf(platform)}`;
}

const hasStrongCustomers = (sim: Sim) => strongCustomers(sim).length > 0;

export const STRONG_AUTHENTICATION: readonly Action[] = [
  {
    name: 'add a customer with strong authentication',
    weight: 5,
    isPossible: (sim) =>
      strongCustomers(sim).length < MAX_CUSTOMERS && regulatedSandboxes(sim).length > 0,
    run: addCustomer,
  },
  {
    name: 'verify a telephone',
    weight: 1,
    isPossible: hasStrongCustomers,
    run: (sim) => {
      const customers = strongCustomers(sim);
      const unverifiedCustomers = customers.filter(
        (customer) => !customer.strongAuthentication.phoneVerified,
      );
      return verifyPhone(
        sim,
        sim.chance.pick(unverifiedCustomers.length ? unverifiedCustomers : customers),
        sim.chance.pickWeighted(PROOF_VARIANTS).name,
      );
    },
  },
  { name: 'log in', weight: 5, isPossible: hasStrongCustomers, run: (sim) => logIn(sim) },
  { name: 'fail to log in', weight: 1, isPossible: hasStrongCustomers, run: recordFailures },
  { name: 'reset a password', weight: 0.8, isPossible: hasStrongCustomers, run: resetPassword },
  {
    name: 'trust an account',
    weight: 4,
    isPossible: (sim) => externalAccountsOf(sim).length > 0,
    run: setTrust,
  },
  {
    name: 'challenge a customer without strong authentication',
    weight: 0.3,
    isPossible: (sim) => payers(sim).some(({ id }) => id !== null),
    run: challengeExemptCustomer,
  },
  { name: 'set the authentication steps of a payment', weight: 1.5, run: setSteps },
];
