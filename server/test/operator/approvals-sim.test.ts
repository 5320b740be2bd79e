// Operators request, approve and reject changes of deposits concurrently and in random order, and
// the command makes the same changes. Requesters are disabled or lose their role or token. At most
// one change of a deposit is executed. The execution requires the permission of the requester and,
// if a policy applies, the decision of another person.
import { beforeAll, describe, expect, it } from 'vitest';
import { rejectHeldDeposit, releaseHeldDeposit } from '../../src/features/payments/manual/index.ts';
import { verifyAudit } from '../../src/features/staff/audit/index.ts';
import { runSeed } from '../kit/app/effects.ts';
import { readBalances } from '../kit/app/fixtures.ts';
import type { ApiResponse } from '../kit/app/harness.ts';
import { lengthOf } from '../kit/length.ts';
import { newOperatorUser } from '../kit/operator/client.ts';
import { operatorService } from '../kit/operator/production.ts';
import { type Chance, seededChance } from '../sim/harness/chance.ts';

const SEED = process.env.APPROVALS_SEED ?? runSeed();
const RUN_COUNT = lengthOf(60, 1_000);
const MINIMUM = 10_00;
const DAY_MS = 24 * 3_600_000;

const { service, call, newOperator } = operatorService({ isRandom: true });

interface Person {
  name: string;
  secret: string;
  /**
   * Whether the person may release and reject deposits, or undefined if this changes during a run.
   */
  mayDecide: boolean | undefined;
  person: string;
}

let people: Person[] = [];
let adaSecret = '';
let account = '';
/** Total of the released deposits. */
let releasedTotal = 0;
/** Number of changes whose requester had lost the permission at the end of a run. */
let invalidCount = 0;

const TOKEN_DAYS = 366;

beforeAll(async () => {
  ({ account } = await service.createPayer());
  const [ada, grace, alan, treasurer] = await Promise.all([
    newOperator({ name: 'Ada', days: TOKEN_DAYS }),
    newOperator({ name: 'Grace', days: TOKEN_DAYS }),
    newOperator({ name: 'Alan', days: TOKEN_DAYS }),
    newOperator({ name: 'Treasurer', days: TOKEN_DAYS, roles: ['treasury'] }),
  ]);
  adaSecret = ada;
  const body = { name: 'Ada again', roles: ['administrator'], expiresInDays: TOKEN_DAYS };
  const secondToken = await call('POST', '/operator-tokens', { body, secret: ada });
  people = [
    { name: 'Ada', secret: ada, mayDecide: true, person: 'Ada' },
    { name: 'Ada again', secret: secondToken.body.secret, mayDecide: true, person: 'Ada' },
    { name: 'Grace', secret: grace, mayDecide: true, person: 'Grace' },
    { name: 'Alan', secret: alan, mayDecide: true, person: 'Alan' },
    { name: 'Treasurer', secret: treasurer, mayDecide: false, person: 'Treasurer' },
  ];
  const policies = [
    { operationId: 'releaseDeposit', minimum: { amount: MINIMUM, currency: 'USD' } },
    { operationId: 'rejectDeposit' },
  ];
  for (const policy of policies) {
    const policyBody = { ...policy, hours: 24, reason: 'four eyes' };
    expect((await call('POST', '/approval-policies', { body: policyBody })).status).toBe(201);
  }
});

/** A user whose rights change during a run, and the token of this user. */
interface Member {
  userId: string;
  tokenId: string;
}

const MEMBER = 'Member';

async function newMember(): Promise<{ member: Member; person: Person }> {
  const { user, secretOf } = await newOperatorUser(service.app, MEMBER);
  const secret = await secretOf(TOKEN_DAYS);
  const { data } = (await call('GET', '/operator-tokens?limit=1', { secret: adaSecret })).body;
  const member = { userId: user.id, tokenId: data[0].id };
  return { member, person: { name: MEMBER, secret, mayDecide: undefined, person: MEMBER } };
}

/** Changes of rights by their reason, which identifies them in the audit records. */
const RIGHTS = {
  disable: { isDisabled: true },
  enable: { isDisabled: false },
  demote: { roles: ['viewer'] },
  promote: { roles: ['administrator'] },
};

async function changeRights({ chance, member: { userId, tokenId } }: Run): Promise<void> {
  const secret = adaSecret;
  if (chance.percent(15)) {
    expectNoServerError(await call('DELETE', `/operator-tokens/${tokenId}`, { secret }));
    return;
  }
  const reason = chance.pick(Object.keys(RIGHTS) as (keyof typeof RIGHTS)[]);
  const body = { ...RIGHTS[reason], reason };
  expectNoServerError(await call('PATCH', `/operator-users/${userId}`, { body, secret }));
}

/**
 * Whether the member may request changes at the execution of the approval, or now without an ID.
 */
async function hadPermission({ userId, tokenId }: Member, approvalId?: string): Promise<boolean> {
  const rows = await service.app.runtime.db.query<{ operation_id: string; reason: string }>(
    `SELECT operation_id, reason FROM operator_audit
     WHERE subject IN ($1, $2) AND outcome IS NULL AND number < coalesce(
       (SELECT min(number) FROM operator_audit WHERE subject = $3 AND operation_id LIKE '%Deposit'),
       9223372036854775807)
     ORDER BY number`,
    [userId, tokenId, approvalId ?? ''],
  );
  const rights = { isDisabled: false, isDemoted: false, isRevoked: false };
  for (const { operation_id: operation, reason } of rows) {
    if (operation === 'revokeOperatorToken') rights.isRevoked = true;
    if (reason === 'disable' || reason === 'enable') rights.isDisabled = reason === 'disable';
    if (reason === 'demote' || reason === 'promote') rights.isDemoted = reason === 'demote';
  }
  return !Object.values(rights).includes(true);
}

/** A deposit and its changes. */
interface Run {
  chance: Chance;
  id: string;
  amount: number;
  /** All operators, and the member three times, so that the member sends more requests. */
  people: Person[];
  member: Member;
  approvals: { id: string; person: string }[];
  /** Executions, with the decider and the requester. */
  executions: { verb: 'release' | 'reject'; by: string; requester?: string }[];
}

const VERBS = ['release', 'reject'] as const;

function expectNoServerError({ status, body }: ApiResponse): void {
  expect({ isServerError: status >= 500, status, body }).toMatchObject({ isServerError: false });
}

/** Requests a change, which is executed immediately only below the minimum of the policy. */
async function request({ chance, id, amount, people, approvals, executions }: Run): Promise<void> {
  const { name, secret, mayDecide, person } = chance.pick(people);
  const verb = chance.pick(VERBS);
  const reply = await call('POST', `/deposits/${id}/${verb}`, { body: { reason: name }, secret });
  expectNoServerError(reply);
  if (mayDecide === false) expect(reply.status).toBe(403);
  if (reply.status === 202) approvals.push({ id: reply.body.id, person });
  if (reply.status !== 200) return;
  expect([verb, amount < MINIMUM]).toEqual(['release', true]);
  executions.push({ verb, by: person });
}

/** Decides a change of this run. */
async function decide({ chance, people, approvals, executions }: Run): Promise<void> {
  if (approvals.length === 0) return;
  const { id, person: requester } = chance.pick(approvals);
  const decider = chance.pick(people);
  const decision = chance.percent(75) ? 'approve' : 'reject';
  const body = { reason: decider.name };
  const { secret } = decider;
  const reply = await call('POST', `/approvals/${id}/${decision}`, { body, secret });
  expectNoServerError(reply);
  const isOwn = decider.person === requester;
  if (isOwn) expect([401, 403, 409]).toContain(reply.status);
  if (decision === 'reject' || reply.status !== 200) return;
  expect(decider.mayDecide !== false && !isOwn).toBe(true);
  const verb = reply.body.reply.status === 'FAILED' ? 'reject' : 'release';
  executions.push({ verb, by: decider.person, requester });
}

/** Changes the deposit with a function of the command, to which no policy applies. */
async function changeByCommand({ chance, id, executions }: Run): Promise<void> {
  const verb = chance.pick(VERBS);
  const input = { transactionId: id };
  const { runtime } = service.app;
  try {
    if (verb === 'release') await releaseHeldDeposit(runtime, input);
    else await rejectHeldDeposit(runtime, { ...input, reason: undefined });
    executions.push({ verb, by: 'command' });
  } catch (error) {
    expect((error as { code?: string }).code).toBe('CONFLICT');
  }
}

async function advanceDay(): Promise<void> {
  await service.app.advance(DAY_MS);
}

const ACTIONS = [
  { weight: 40, act: request },
  { weight: 45, act: decide },
  { weight: 8, act: changeByCommand },
  { weight: 20, act: changeRights },
  { weight: 1, act: advanceDay },
];

/** Expects that a change of the member is executed with permission, and INVALID otherwise. */
async function verifyRights(member: Member, id: string, status: string): Promise<void> {
  if (status === 'APPROVED') expect(await hadPermission(member, id)).toBe(true);
  if (status !== 'PENDING' && status !== 'INVALID') return;
  expect(status).toBe((await hadPermission(member)) ? 'PENDING' : 'INVALID');
  if (status === 'PENDING') return;
  invalidCount++;
  const body = { reason: 'late' };
  const reply = await call('POST', `/approvals/${id}/approve`, { body, secret: adaSecret });
  expect(reply.status).toBe(409);
}

/** Expects that the statuses of the deposit and of each approval follow from the executions. */
async function verify({ id, amount, member, approvals, executions }: Run): Promise<void> {
  expect(executions.length).toBeLessThanOrEqual(1);
  const [execution] = executions;
  const expectedStatuses = { release: 'COMPLETED', reject: 'FAILED', none: 'PENDING' } as const;
  expect(await service.readStatus(id)).toContain(expectedStatuses[execution?.verb ?? 'none']);
  if (execution?.verb === 'release') releasedTotal += amount;
  const approvedChanges: unknown[] = [];
  for (const approval of approvals) {
    const { body } = await call('GET', `/approvals/${approval.id}`, { secret: adaSecret });
    if (body.status === 'APPROVED') approvedChanges.push(approval.person);
    if (approval.person !== MEMBER) expect(body.status).not.toBe('INVALID');
    else await verifyRights(member, approval.id, body.status);
  }
  const requester = execution?.requester;
  expect(approvedChanges).toEqual(requester === undefined ? [] : [requester]);
}

async function runSeededRun(number: number): Promise<void> {
  const chance = seededChance(`${SEED} ${number}`);
  const amount = chance.integerBetween(5_00, 20_00);
  const entry = { accountId: account, amount, currency: 'USD', rail: 'WIRE' };
  const body = { ...entry, bankReference: `SIM-${number}`, hold: 'COMPLIANCE_REVIEW' };
  const { status, body: deposit } = await call('POST', '/deposits', { body, secret: adaSecret });
  expect(status).toBe(201);
  const { member, person } = await newMember();
  const run: Run = {
    ...{ chance, id: deposit.transactionId, amount, member },
    ...{ people: [...people, person, person, person], approvals: [], executions: [] },
  };
  for (let step = chance.integerBetween(2, 5); step > 0; step--) {
    // The actions of one step run concurrently.
    const stepActions = Array.from({ length: chance.integerBetween(1, 4) }, () =>
      chance.pickWeighted(ACTIONS),
    );
    await Promise.all(stepActions.map(({ act }) => act(run)));
  }
  await verify(run);
}

describe(`random interleavings of approvals and changes (APPROVALS_SEED=${SEED})`, () => {
  it(`execute at most one permitted change of each deposit in ${RUN_COUNT} runs`, {
    timeout: 900_000,
  }, async () => {
    for (let number = 0; number < RUN_COUNT; number++) {
      await runSeededRun(number).catch((error: unknown) => {
        throw new Error(`Run ${number} failed. Repeat with APPROVALS_SEED=${SEED}.`, {
          cause: error,
        });
      });
    }
    expect((await readBalances(service.app, account, service.callOptions)).balance).toBe(
      releasedTotal,
    );
    expect(releasedTotal).toBeGreaterThan(0);
    expect(invalidCount).toBeGreaterThan(0);
    const { problems, records } = await verifyAudit(service.app.runtime);
    expect(problems).toEqual([]);
    expect(records).toBeGreaterThan(RUN_COUNT);
  });
});
