// Calls operations with IDs of another platform in the path, the query and the body. No reply may accept an
// ID in a path, or contain data of the other platform.
import type { Operation } from '../requests/document.ts';
import { bodyFor, pathFor, queryFor } from '../requests/values.ts';
import { type Attack, authorizationFor, type Session } from '../session.ts';
import { requestBytes } from '../target/tenants.ts';

/** Public resources and bearer secrets: a UMA address, the code of an invitation or of a device. */
const PUBLIC_OPERATIONS = new Set([
  ...['lookupUma', 'getInvitation', 'claimInvitation', 'cancelInvitation', 'redeemAgentDeviceCode'],
]);

const hasIdInPath = ({ path, operationId, isPublic, api }: Operation) =>
  path.includes('{') && !PUBLIC_OPERATIONS.has(operationId) && !isPublic && api === 'platform';

/** Whether an operator token for another platform must not reach the resource of the operation. */
const isOfPlatform = ({ api, path }: Operation) =>
  api === 'operator' &&
  /\{(platformId|customerId|transactionId|accountId|cardId|agentId)\}/.test(path);

async function callWithForeignPath(session: Session): Promise<void> {
  const { chance, callers, connection, documents } = session;
  const operation = chance.pick(
    documents.operations.filter((operation) => hasIdInPath(operation) || isOfPlatform(operation)),
  );
  const { attacker, victim, scopedOperator } = callers;
  const source = { chance, ids: attacker.ids, documents };
  let isForeign = true;
  const path = pathFor(operation, source, (name, example) => {
    const id =
      name === 'platformId' && operation.api === 'operator'
        ? victim.id
        : (victim.ids.similar(example ?? '', chance) ?? victim.ids.forParameter(name, chance));
    isForeign &&= id !== undefined;
    return id;
  });
  if (!isForeign) return;
  const authorization =
    operation.api === 'operator' ? scopedOperator : authorizationFor(operation, session);
  const query = new URLSearchParams(queryFor(operation, source)).toString();
  const body = bodyFor(operation, source);
  const isJson = operation.body?.type === 'application/json';
  const bytes = requestBytes({
    ...{ method: operation.method, path: query ? `${path}?${query}` : path },
    headers: [
      ['authorization', authorization ?? ''],
      ...(isJson ? [['content-type', 'application/json'] as const] : []),
      ['idempotency-key', `cross-${chance.integerBelow(2 ** 31)}`],
    ],
    body: isJson ? JSON.stringify(body) : undefined,
  });
  const reply = await connection.send(bytes);
  const sentRequest = {
    attack: 'tenants',
    method: operation.method,
    path,
    text: bytes.toString(),
    operation,
  };
  const problems =
    typeof reply !== 'string' && reply.status < 300
      ? ['a resource of another platform was accepted']
      : [];
  session.record(sentRequest, reply, problems);
  if (typeof reply !== 'string' && reply.status === 401) await callers.renew();
}

/** Calls an operation with IDs of the victim in the query and the body, and of the attacker in the path. */
async function callWithForeignBody(session: Session): Promise<void> {
  const { chance, callers, connection, documents } = session;
  const operation = chance.pick(
    documents.operations.filter(
      ({ body, api, isPublic }) => body && api === 'platform' && !isPublic,
    ),
  );
  if (operation.body?.type !== 'application/json') return;
  const ownSource = { chance, ids: callers.attacker.ids, documents };
  const victimSource = { chance, ids: callers.victim.ids, documents };
  const query = new URLSearchParams(queryFor(operation, victimSource)).toString();
  const path = pathFor(operation, ownSource) + (query ? `?${query}` : '');
  const bytes = requestBytes({
    ...{ method: operation.method, path, body: JSON.stringify(bodyFor(operation, victimSource)) },
    headers: [
      ['authorization', authorizationFor(operation, session) ?? ''],
      ['content-type', 'application/json'],
      ['idempotency-key', `cross-${chance.integerBelow(2 ** 31)}`],
    ],
  });
  const reply = await connection.send(bytes);
  const text = bytes.toString();
  session.record({ attack: 'tenants', method: operation.method, path, text, operation }, reply);
  if (typeof reply !== 'string' && reply.status === 401) await callers.renew();
}

export const tenants: Attack = {
  ...{ name: 'tenants', weight: 12 },
  run: (session) =>
    session.chance.percent(65) ? callWithForeignPath(session) : callWithForeignBody(session),
};
