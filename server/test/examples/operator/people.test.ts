// Examples of the operator API: sign-in, sessions, users, tokens, approvals and audit records.
import { describe } from 'vitest';
import { ok } from '../../kit/app/fixtures.ts';
import { type OperatorRecorder, operatorExamples } from '../../kit/operator/examples.ts';
import {
  type Browser,
  browser,
  enrollWithPasskey,
  newDevice,
  PASSWORD,
} from '../../kit/operator/people.ts';
import { assertionJson, codeAt, registrationJson } from '../../kit/sca/factors.ts';

/** Invites a user without an example. Returns the ID and the secret of the link. */
async function invite({ client }: OperatorRecorder, name: string, roles: readonly string[]) {
  const email = `${name.toLowerCase().replace(' ', '.')}@example.com`;
  const body = { name, email, roles };
  const { id, link } = ok(await client.call('POST', '/operator-users', { body }), 201);
  return { id: id as string, secret: link.secret as string, email };
}

async function recordPasskey(recorder: OperatorRecorder) {
  const { service, record } = recorder;
  const { secret } = await invite(recorder, 'Ada Whitman', ['administrator']);
  const person = browser(service.app);
  await record('showEnrollment', 'invitation', {
    summary: 'The user of an invitation',
    person,
    body: { secret },
  });
  const options = await record('getEnrollmentPasskeyOptions', 'invitation', {
    summary: 'Options for the passkey of an invited user',
    person,
    body: { secret },
  });
  const device = newDevice();
  const credential = registrationJson(device, options.publicKey.challenge);
  await record('enrollPasskey', 'invitation', {
    summary: 'The first passkey of a user',
    person,
    body: { secret, state: options.state, passkeyName: 'Laptop', credential },
  });
  const signIn = await record('getOperatorPasskeyOptions', 'all', {
    summary: 'Options for the sign-in with a passkey',
    person,
  });
  await record('signInWithPasskey', 'passkey', {
    summary: 'Sign in with a passkey',
    person,
    body: {
      state: signIn.state,
      credential: assertionJson(device, signIn.publicKey.challenge),
    },
  });
  return { person };
}

async function recordPassword(recorder: OperatorRecorder) {
  const { service, record } = recorder;
  const { secret, email } = await invite(recorder, 'Grace Bennett', ['support']);
  const person = browser(service.app);
  const totp = await record('getEnrollmentTotp', 'invitation', {
    summary: 'The secret of an authenticator app',
    person,
    body: { secret },
  });
  const nextCode = () => codeAt(totp.secret, service.app.effects.now());
  await record('enrollPassword', 'invitation', {
    summary: 'The password of a user and a code of the authenticator app',
    person,
    body: { secret, state: totp.state, password: PASSWORD, code: nextCode() },
  });
  await service.app.advance(60_000);
  await record('signInWithPassword', 'password', {
    summary: 'Sign in with a password and a code',
    person,
    body: { email, password: PASSWORD, code: nextCode() },
  });
}

async function recordSession({ service, record }: OperatorRecorder, person: Browser) {
  await record('getOperatorSession', 'active', { summary: 'The session of the caller', person });
  const options = await record('getOwnPasskeyOptions', 'another', {
    summary: 'Options for another passkey',
    person,
  });
  const credential = registrationJson(newDevice(), options.publicKey.challenge);
  const { id } = await record('addOwnPasskey', 'another', {
    summary: 'Another passkey',
    person,
    body: { name: 'Security key', state: options.state, credential },
  });
  await record('listOwnPasskeys', 'all', { summary: 'The passkeys of the caller', person });
  await record('removeOwnPasskey', 'lost', {
    summary: 'Remove a passkey',
    params: { operatorPasskeyId: id },
    person,
  });
  const totp = await record('getOwnTotp', 'new', {
    summary: 'The secret of a new authenticator app',
    person,
  });
  await record('setOwnPassword', 'new', {
    summary: 'Set a password and an authenticator app',
    person,
    body: {
      state: totp.state,
      password: PASSWORD,
      code: codeAt(totp.secret, service.app.effects.now()),
    },
  });
  await record('endOtherOwnSessions', 'all', {
    summary: 'End all other sessions of the caller',
    person,
  });
}

async function recordUsers(recorder: OperatorRecorder) {
  const { service, record } = recorder;
  const { id } = await record('createOperatorUser', 'all-platforms', {
    summary: 'A user of all platforms',
    body: {
      name: 'Nina Weber',
      email: 'nina.weber@example.com',
      roles: ['support', 'compliance'],
      reason: 'New colleague',
    },
  });
  await record('createOperatorUser', 'one-platform', {
    summary: 'A user of one platform',
    body: {
      name: 'Tom Becker',
      email: 'tom.becker@example.com',
      roles: ['developer'],
      platformIds: [service.platform.id],
    },
  });
  const params = { operatorUserId: id as string };
  await record('updateOperatorUser', 'roles', {
    summary: 'Change the roles of a user',
    params,
    body: { roles: ['compliance'], reason: 'New department' },
  });
  await record('updateOperatorUser', 'disable', {
    summary: 'Disable a user, which ends all sessions',
    params,
    body: { isDisabled: true, reason: 'Has left the company' },
  });
  await record('listOperatorUsers', 'all', {
    summary: 'The first users',
    query: { limit: '2' },
  });
  const { data } = await record('listOperatorSessions', 'all', {
    summary: 'The latest sessions',
    query: { limit: '2' },
  });
  await record('endOperatorSession', 'lost', {
    summary: 'End the session of a user',
    params: { operatorSessionId: data[0].id },
    query: { reason: 'Lost laptop' },
  });
}

/** The recovery of a user always requires an approval. */
async function recordRecovery(recorder: OperatorRecorder) {
  const { client, approver, record, add } = recorder;
  const { id, secret } = await invite(recorder, 'Max Miller', ['treasury']);
  ok((await enrollWithPasskey(browser(recorder.service.app), secret)).reply, 201);
  const approval = await record('recoverOperatorUser', 'lost-phone', {
    summary: 'The user has lost all sign-in methods. A second operator must approve the recovery',
    params: { operatorUserId: id },
    body: { reason: 'Lost the telephone' },
    withoutApproval: true,
  });
  const body = { reason: 'Confirmed by telephone' };
  const path = `/approvals/${approval.id}/approve`;
  const approved = ok(await client.call('POST', path, { body, secret: await approver() }), 200);
  add({
    operationId: 'recoverOperatorUser',
    name: 'approved',
    summary: 'The link for the user, in `reply` of `approveChange`',
    status: approved.status,
    reply: approved.reply,
  });
}

async function recordTokens({ service, record }: OperatorRecorder) {
  await record('listOperatorRoles', 'all', { summary: 'The roles and their permissions' });
  const { id } = await record('createOperatorToken', 'all-platforms', {
    summary: 'A token for a nightly export',
    body: {
      name: 'Nightly export',
      roles: ['viewer'],
      expiresInDays: 90,
      reason: 'Export to the data warehouse',
    },
  });
  await record('createOperatorToken', 'one-platform', {
    summary: 'A token of one platform',
    body: {
      name: 'Reconciliation',
      roles: ['treasury'],
      platformIds: [service.platform.id],
      expiresInDays: 30,
    },
  });
  await record('listOperatorTokens', 'latest', {
    summary: 'The latest tokens',
    query: { limit: '2' },
  });
  await record('revokeOperatorToken', 'replaced', {
    summary: 'Revoke a token',
    params: { operatorTokenId: id },
    query: { reason: 'Replaced by another token' },
  });
}

async function recordApprovals({ service, client, approver, record }: OperatorRecorder) {
  const policy = await record('createApprovalPolicy', 'operation', {
    summary: 'A second operator must approve every change of a platform',
    body: { operationId: 'updatePlatform', hours: 24, reason: 'Four-eyes principle' },
  });
  await record('createApprovalPolicy', 'amount', {
    summary: 'A second operator must approve payouts of one platform above an amount',
    body: {
      operationId: 'settleTransfer',
      platformId: service.platform.id,
      minimum: { amount: 10_000_00, currency: 'EUR' },
      hours: 4,
    },
  });
  await record('listApprovalPolicies', 'all', { summary: 'All policies' });
  const request = async (hourlyPayments: number) => {
    const body = { hourlyPayments, reason: 'Request of the platform' };
    const path = `/platforms/${service.platform.id}`;
    const { id } = ok(await client.call('PATCH', path, { body }), 202);
    return { approvalId: id as string };
  };
  const approved = await request(500);
  await record('listApprovals', 'pending', {
    summary: 'Changes that wait for a decision',
    query: { status: 'PENDING' },
  });
  await record('getApproval', 'pending', {
    summary: 'A change with the rows that it changes',
    params: approved,
  });
  const secret = await approver();
  await record('approveChange', 'limit', {
    summary: 'Approve and execute a change',
    params: approved,
    body: { reason: 'Agreed with the risk team' },
    secret,
  });
  await record('rejectChange', 'limit', {
    summary: 'Reject a change',
    params: await request(100_000),
    body: { reason: 'Above the agreed limit' },
    secret,
  });
  await record('deleteApprovalPolicy', 'unnecessary', {
    summary: 'Delete a policy',
    params: { policyId: policy.id },
    query: { reason: 'Replaced by another policy' },
  });
}

async function recordAudit({ record }: OperatorRecorder) {
  const { data } = await record('listAuditRecords', 'of-operation', {
    summary: 'The latest record of an operation',
    query: { operationId: 'createOperatorToken', outcome: 'SUCCEEDED', limit: '1' },
  });
  await record('getAuditRecordChanges', 'token', {
    summary: 'The rows that an operation has changed',
    params: { auditRecordId: data[0].id },
  });
  const { last } = await record('verifyAuditRecords', 'intact', {
    summary: 'A chain of records without gaps',
  });
  await record('exportAuditRecords', 'last', {
    summary: 'The records after a number, as JSON lines',
    query: { after: String(last.number - 1) },
  });
}

async function recordPeople(recorder: OperatorRecorder) {
  const { person } = await recordPasskey(recorder);
  await recordPassword(recorder);
  await recordSession(recorder, person);
  await recordUsers(recorder);
  await recordRecovery(recorder);
  await recordTokens(recorder);
  await recordApprovals(recorder);
  await recordAudit(recorder);
  await recorder.record('endOwnSession', 'sign-out', { summary: 'Sign out', person });
}

describe('examples of the operator API: people', () => {
  operatorExamples(
    'people',
    { recordPeople },
    { replacements: [[/"(id|rpId)": "localhost"/g, '"$1": "console.example.com"']] },
  );
});
