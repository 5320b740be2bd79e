// Repeated requests: creations with an idempotency key, executions, and messages of a provider. Each has one
// effect. The same key or signature is rejected with other content.
import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { signRequest } from '../../../src/kernel/crypto/http-signatures.ts';
import { keyIdOf, pemOf } from '../../../src/runtime/security/keys.ts';
import type { Json } from '../requests/document.ts';
import { bodyFor, pathFor } from '../requests/values.ts';
import { type Attack, addProblem, type Session } from '../session.ts';
import {
  BASE,
  type Call,
  expectSuccess,
  OPERATOR_BASE,
  platformToken,
  requestBytes,
} from '../target/tenants.ts';

/** A provider that the attacker controls, with the account that receives its deposits. */
export interface ProviderTarget {
  providerId: string;
  keyId: string;
  privateKey: KeyObject;
  accountId: string;
  authorization: string;
  /** Sum of the deposits that the server has accepted. */
  depositedAmount: number;
}

/** Adds a production provider and a funded customer's account for its messages. */
export async function createProviderTarget(call: Call, root: string): Promise<ProviderTarget> {
  const { privateKey } = generateKeyPairSync('ed25519');
  const publicKeyPem = pemOf(privateKey);
  const post = (path: string, body: Json) =>
    expectSuccess(call('POST', `${OPERATOR_BASE}${path}`, root, body));
  const providerId = 'attacked-bank';
  await post('/providers', {
    ...{ providerId, environment: 'production', url: 'http://127.0.0.1:9', publicKeyPem },
    privateAddressAllowed: true,
  });
  const platform = await post('/platforms', {
    ...{ name: 'Attacked production', environment: 'production', currencies: ['USD'] },
    regulated: true,
  });
  const authorization = await platformToken(call, root, platform.platformId ?? platform.id);
  const customer = { customerType: 'INDIVIDUAL', fullName: 'Ada Lovelace' };
  const { id } = await expectSuccess(call('POST', `${BASE}/customers`, authorization, customer));
  const path = `${BASE}/customers/internal-accounts?customerId=${encodeURIComponent(id)}`;
  const { data } = await expectSuccess(call('GET', `${path}&currency=USD`, authorization));
  const accountId = data[0].id as string;
  const keyId = keyIdOf(publicKeyPem);
  return { providerId, privateKey, keyId, accountId, authorization, depositedAmount: 0 };
}

async function sendMessage(
  session: Session,
  provider: ProviderTarget,
  body: string,
  { signedBody = body, at = Date.now(), change = (headers: Json): Json => headers } = {},
) {
  const path = `/connectors/${provider.providerId}`;
  const request = {
    ...{ method: 'POST', url: `http://localhost${path}`, body: signedBody },
    headers: { 'content-type': 'application/json', host: 'localhost' },
  };
  const { host: _, ...headers } = change(await signRequest(provider, request, at));
  const bytes = requestBytes({ method: 'POST', path, headers: Object.entries(headers), body });
  const reply = await session.connection.send(bytes);
  const sentRequest = { attack: 'replay', method: 'POST', path, text: bytes.toString() };
  // Only the guide describes the replies of this path.
  const isConflict = typeof reply !== 'string' && reply.status === 409;
  if (!isConflict) session.record(sentRequest, reply);
  return { sentRequest, reply };
}

const statusOf = (reply: Json): number => (typeof reply === 'string' ? 0 : reply.status);

/**
 * Sends a deposit of a provider with a changed body, an expired and a future signature, and then twice with
 * a valid signature. The same ID with another amount must be rejected.
 */
async function replayMessage(session: Session, provider: ProviderTarget): Promise<void> {
  const { chance, report } = session;
  const amount = chance.integerBetween(1, 1_000);
  const id = randomUUID();
  const deposit = {
    ...{ id, occurredAt: new Date().toISOString(), type: 'deposit.received', amount },
    ...{ currency: 'USD', accountId: provider.accountId, bankReference: `R-${id}`, rail: 'WIRE' },
  };
  const body = JSON.stringify(deposit);
  const checkStatus = (
    { sentRequest, reply }: Json,
    allowedStatuses: number[],
    description: string,
  ) => {
    if (!allowedStatuses.includes(statusOf(reply)))
      addProblem(report, sentRequest, `${description} returned ${statusOf(reply)}`);
  };
  const otherBody = JSON.stringify({ ...deposit, amount: amount + 1 });
  checkStatus(
    await sendMessage(session, provider, otherBody, { signedBody: body }),
    [401],
    'changed body',
  );
  const expiredTime = { at: Date.now() - chance.integerBetween(301_000, 86_400_000) };
  checkStatus(await sendMessage(session, provider, body, expiredTime), [401], 'old signature');
  const futureTime = { at: Date.now() + 400_000 };
  checkStatus(
    await sendMessage(session, provider, body, futureTime),
    [401],
    'signature of the future',
  );
  const firstResult = await sendMessage(session, provider, body);
  checkStatus(firstResult, [200], 'deposit');
  if (statusOf(firstResult.reply) === 200) provider.depositedAmount += amount;
  checkStatus(await sendMessage(session, provider, body), [200], 'repeated deposit');
  checkStatus(await sendMessage(session, provider, otherBody), [409], 'same ID, other amount');
}

/** A creation with an idempotency key, sent again, with another body, and by another platform. */
async function replayKey(session: Session): Promise<void> {
  const { callers, report, call, documents } = session;
  const { attacker, victim } = callers;
  const key = randomUUID();
  const operation = documents.operations.find(
    ({ operationId }) => operationId === 'createCustomer',
  )!;
  const body = {
    ...{ customerType: 'INDIVIDUAL', fullName: 'Grace Hopper' },
    platformCustomerId: `replay-${key}`,
  };
  const path = `${BASE}/customers`;
  const sentRequest = {
    attack: 'replay',
    method: 'POST',
    path,
    text: JSON.stringify(body),
    operation,
  };
  const send = async (authorization: string, content: Json) => {
    const result = await call('POST', path, authorization, content, { 'idempotency-key': key });
    session.record(sentRequest, result.reply);
    return result;
  };
  const { authorization } = attacker;
  const firstReply = await send(authorization, body);
  const secondReply = await send(authorization, body);
  const otherBodyReply = await send(authorization, { ...body, fullName: 'Another' });
  // Another attack has revoked the token.
  if ([firstReply, secondReply, otherBodyReply].some(({ status }) => status === 401))
    return callers.renew();
  if (firstReply.status !== 201 || secondReply.body.id !== firstReply.body.id) {
    addProblem(
      report,
      sentRequest,
      `the replay returned ${secondReply.status} ${JSON.stringify(secondReply.body)}`,
    );
  }
  if (otherBodyReply.status !== 409)
    addProblem(report, sentRequest, `another body returned ${otherBodyReply.status}`);
  // The key of one platform is unknown to another platform, so the same request creates a customer.
  const victimReply = await call('POST', path, victim.authorization, body, {
    'idempotency-key': key,
  });
  if (victimReply.status !== 201 || victimReply.body.id === firstReply.body.id) {
    addProblem(
      report,
      sentRequest,
      `the key was valid for another platform: ${victimReply.status}`,
    );
  }
  victim.ids.collect(JSON.stringify(victimReply.body));
  session.rules.hide([victimReply.body.id]);
}

/** Executes the quote of a payment four times, each time with another idempotency key. */
async function replayExecution(session: Session): Promise<void> {
  const { chance, callers, report, call, documents } = session;
  const { authorization } = callers.attacker;
  const source = { chance, ids: callers.attacker.ids, documents };
  const createOperation = documents.operations.find(
    ({ operationId }) => operationId === 'createQuote',
  )!;
  const quote = await call(
    'POST',
    createOperation.path,
    authorization,
    bodyFor(createOperation, source),
  );
  const sentRequest = {
    attack: 'replay',
    method: 'POST',
    path: createOperation.path,
    text: '',
    operation: createOperation,
  };
  session.record(sentRequest, quote.reply);
  if (quote.status === 401) return callers.renew();
  if (quote.status >= 300 || !quote.body.id) return;
  const executeOperation = documents.operations.find(
    ({ operationId }) => operationId === 'executeQuote',
  )!;
  const path = pathFor(executeOperation, source, () => quote.body.id);
  const statuses = [];
  for (let count = 0; count < 4; count++) {
    const headers = { 'idempotency-key': randomUUID() };
    const result = await call('POST', path, authorization, undefined, headers);
    session.record({ ...sentRequest, operation: executeOperation, path, text: path }, result.reply);
    statuses.push(result.status);
  }
  const executions = statuses.filter((status) => status === 200);
  if (executions.length > 1)
    addProblem(
      report,
      { ...sentRequest, path },
      `the quote was executed more than once: ${statuses.join(', ')}`,
    );
}

export const replayAttack = (provider: ProviderTarget): Attack => ({
  ...{ name: 'replay', weight: 1 },
  run(session) {
    const attacks = [() => replayMessage(session, provider), () => replayKey(session)];
    return session.chance.pick([...attacks, () => replayExecution(session)])();
  },
});
