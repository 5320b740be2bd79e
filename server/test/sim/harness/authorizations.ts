// Verifies the stored authorizations. Each signature is checked against the stored payload. Except
// for the decryption of the payload, the check uses no code of the server. The payload of a payment
// names its quote.
import { createPublicKey, ECDH, verify } from 'node:crypto';
import type { RowChange } from '../model/model.ts';
import type { Sim } from './sim.ts';

interface SignedAuthorization {
  id: string;
  operation: string;
  subject: string;
  public_key: string;
  stamp: string;
  payload: string;
  owner: string;
  sealed: string;
}

const SELECT_AUTHORIZATIONS = `select a.id, operation, subject, public_key, stamp, payload, c.id as owner,
    c.data_key as sealed
  from wallet_authorizations a join customers c on c.id = customer_id where a.id = any($1)`;

function keyOf(compressedKey: string) {
  const point = ECDH.convertKey(
    compressedKey,
    'prime256v1',
    'hex',
    'hex',
    'uncompressed',
  ) as string;
  const coordinate = (from: number) =>
    Buffer.from(point.slice(from, from + 64), 'hex').toString('base64url');
  const key = { kty: 'EC', crv: 'P-256', x: coordinate(2), y: coordinate(66) };
  return createPublicKey({ key, format: 'jwk' });
}

/** The field of a payload that names its subject. */
const SUBJECT_FIELDS: Readonly<Record<string, string>> = {
  executeQuote: 'quoteId',
  cardPull: 'transactionId',
};

/** The subject of a signed payload. */
function subjectIn(text: string, name: string): string {
  const { unsignedTransaction } = JSON.parse(text).parameters;
  return JSON.parse(Buffer.from(unsignedTransaction, 'hex').toString())[name];
}

function authorizationProblem(sim: Sim, row: SignedAuthorization): string | undefined {
  const { id, owner, sealed } = row;
  const { vault } = sim.nodes[0]!.app.runtime;
  const context = `wallet_authorizations ${id} payload`;
  const text: string = JSON.parse(vault.open({ owner, sealed }, row.payload, context).toString());
  const stamp = JSON.parse(Buffer.from(row.stamp, 'base64url').toString());
  if (stamp.publicKey !== row.public_key) return 'was signed with another key';
  const signature = Buffer.from(stamp.signature, 'hex');
  if (!verify('sha256', Buffer.from(text), keyOf(row.public_key), signature)) {
    return 'does not match its signature';
  }
  const name = SUBJECT_FIELDS[row.operation];
  if (name && subjectIn(text, name) !== row.subject) return `is about another ${name}`;
  return undefined;
}

function checkAuthorization(sim: Sim, row: SignedAuthorization): string | undefined {
  try {
    return authorizationProblem(sim, row);
  } catch (error) {
    return `cannot be read: ${error}`;
  }
}

/** Problems of the authorizations in these changes. */
export async function authorizationProblems(
  sim: Sim,
  changes: readonly RowChange[],
): Promise<string[]> {
  const newRows = changes.filter(
    ({ table, before }) => table === 'wallet_authorizations' && !before,
  );
  if (newRows.length === 0) return [];
  const ids = newRows.map(({ after }) => after?.id);
  const { rows } = await sim.client.query<SignedAuthorization>(SELECT_AUTHORIZATIONS, [ids]);
  const problems = rows.flatMap((row) => {
    const problem = checkAuthorization(sim, row);
    return problem ? [`${row.id} ${problem}`] : [];
  });
  if (rows.length !== newRows.length) problems.push('an authorization has no owner');
  return problems;
}
