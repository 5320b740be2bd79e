// A request for every operation, derived from the published document, with additions that a
// generated sample cannot contain.
import { publishedDocument } from '../../../src/document.ts';
import type { Contract } from '../../../src/kernel/contract/operation.ts';
import { policyBody } from '../agents/agents.ts';
import { accountInfos } from '../app/fixtures.ts';
import { ownerBody } from '../customers/owners.ts';
import { generateKeys } from '../wallets/embedded-wallets.ts';
import { documentForm, pdfFile } from './documents.ts';
import { sample } from './sample.ts';

type Json = Record<string, unknown>;

export const document = publishedDocument() as { paths: Record<string, Record<string, Json>> };

const transfer = () => ({
  source: { accountId: 'x' },
  destination: { accountId: 'y' },
  amount: 1,
});

/** Bodies that a generated sample cannot contain. */
const BODIES: Record<string, () => Json> = {
  createWebhookEndpoint: () => ({ url: 'https://example.com/hook' }),
  acknowledgeWebhookDeliveries: () => ({ eventIds: ['x'] }),
  createSandboxFixtures: () => ({ world: 'customers' }),
  updateSandboxClock: () => ({ advance: 'P2D' }),
  setSandboxStatus: () => ({ resourceId: 'x', status: 'FROZEN' }),
  createAgent: () => ({ name: 'x', customerId: 'x', policy: policyBody() }),
  updateAgent: () => ({ isPaused: true }),
  updateAgentPolicy: () => ({ defaultExecutionMode: 'AUTO' }),
  createCard: () => ({ cardholderId: 'x', form: 'VIRTUAL', fundingSources: ['x'] }),
  updateCardById: () => ({ state: 'FROZEN' }),
  createTransferOut: transfer,
  createTransferIn: transfer,
  agentCreateTransferOut: transfer,
  agentCreateTransferIn: transfer,
  sandboxReceive: () => ({
    senderUmaAddress: '$a@b',
    customerId: 'x',
    receivingCurrencyCode: 'USD',
    receivingCurrencyAmount: 1,
  }),
  updateCustomerById: () => ({ customerType: 'INDIVIDUAL' }),
  createBeneficialOwner: () => ownerBody('x'),
  uploadDocument: () => ({ documentHolder: 'x', documentType: 'OTHER', country: 'US' }),
  replaceDocument: () => ({ documentType: 'OTHER', country: 'US' }),
  updateBeneficialOwner: () => ({ ownershipPercentage: 5 }),
  createCustomerExternalAccount: () => ({
    currency: 'USD',
    accountInfo: accountInfos.USD?.('000'),
  }),
  agentCreateExternalAccount: () => ({
    currency: 'USD',
    accountInfo: accountInfos.USD?.('000'),
  }),
  estimateCryptoWithdrawalFee: () => ({
    internalAccountId: 'x',
    currency: 'USDC',
    cryptoNetwork: 'BASE',
    amount: 1,
    destinationAddress: `0x${'1'.repeat(40)}`,
  }),
  completeScaLogin: () => ({ factor: 'TOTP', endUserIpAddress: '203.0.113.7', code: '123456' }),
  updateInternalAccount: () => ({ privateEnabled: true }),
  exportInternalAccount: () => ({ clientPublicKey: generateKeys().uncompressedKey }),
  refreshAuthSession: () => ({ clientPublicKey: generateKeys().publicKey }),
  createStablecoinMint: () => ({
    amount: '10000',
    fundingSource: { type: 'WIRE' },
    destination: { accountId: 'x' },
  }),
  createStablecoinBurn: () => ({
    amount: '10000',
    source: { type: 'EXTERNAL_ACCOUNT' },
    destination: { type: 'EXTERNAL_ACCOUNT', externalAccountId: 'x', rail: 'WIRE' },
  }),
  createPlatformExternalAccount: () => ({
    currency: 'USD',
    accountInfo: accountInfos.USD?.('000'),
  }),
};

function sampleOf(contract: Contract): unknown {
  const item = document.paths[contract.path]?.[contract.method.toLowerCase()] as Json;
  const request = item.requestBody as { content: Record<string, { schema: Json }> };
  const [content] = Object.values(request.content);
  // The document has a generated type. The sampler reads any schema.
  return sample(content?.schema as Json, document as unknown as Json);
}

/** A body that the operation accepts, or undefined if it has none. */
export function bodyOf(contract: Contract): unknown {
  if (!contract.body) return undefined;
  const fields = BODIES[contract.operationId]?.() ?? sampleOf(contract);
  if (!contract.upload) return fields;
  const { file: _, ...texts } = fields as Record<string, string>;
  return documentForm(texts, { bytes: pdfFile() });
}

/** Required queries. `@` stands for the ID of a customer. */
const QUERIES: Record<string, string> = {
  listBeneficialOwners: '?customerId=x',
  getCustomerKycLink: '?platformCustomerId=x',
  listAuthCredentials: '?accountId=x',
  listAuthSessions: '?accountId=x',
  listDelegatedKeys: '?accountId=x',
  listScaFactors: '?customerId=x',
  startScaFactorEnrollment: '?customerId=x',
  confirmScaFactorEnrollment: '?customerId=x',
  startScaLogin: '?customerId=x',
  completeScaLogin: '?customerId=x',
  recordSecurityEvent: '?customerId=x',
  deleteScaFactor: '?customerId=@',
  startTwoFactorReset: '?customerId=x',
  getTwoFactorResetStatus: '?customerId=@',
  completeTwoFactorReset: '?customerId=@',
};

/** Name of the ID for `{id}`, in operations on resources other than accounts and cards. */
const ID_NAMES: Record<string, string> = {
  revokeAuthCredential: 'credentialId',
  challengeAuthCredential: 'credentialId',
  verifyAuthCredential: 'credentialId',
  refreshAuthSession: 'sessionId',
  revokeAuthSession: 'sessionId',
  getDelegatedKeyById: 'delegatedKeyId',
  revokeDelegatedKey: 'delegatedKeyId',
};

const idOf = ({ operationId, path }: Contract): string =>
  ID_NAMES[operationId] ?? (path.includes('/cards/{id}') ? 'cardId' : 'id');

/**
 * Path and required query of an operation, with a value for each parameter. `customerId` selects an
 * existing customer, because a request for an unknown customer is rejected first.
 */
export const requestPath = (
  contract: Contract,
  parameterValue: (name: string) => string,
  customerId = 'x',
) =>
  contract.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    parameterValue(name === 'id' ? idOf(contract) : name),
  ) + (QUERIES[contract.operationId] ?? '').replace('@', customerId);
