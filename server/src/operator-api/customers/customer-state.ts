// The state of one customer without personal data: checks, accounts, cards, agents, limits and factors.
import { Type } from '@sinclair/typebox';
import { searchAgents } from '../../features/agents/index.ts';
import { accountsByOperator } from '../../features/balances/internal-accounts/index.ts';
import { hourlyUsage } from '../../features/balances/velocity-limits/index.ts';
import { searchCards } from '../../features/cards/index.ts';
import { DocumentType, documentLists } from '../../features/customers/documents/index.ts';
import {
  type CustomerRow,
  customerById,
  customerFeature,
  customerPages,
} from '../../features/customers/records/index.ts';
import {
  latestVerification,
  VERIFICATION_STATUSES,
} from '../../features/customers/verifications/index.ts';
import { findExternalAccounts } from '../../features/payees/external-accounts/index.ts';
import { scaDetails } from '../../features/sca/authentication/index.ts';
import { platformById } from '../../features/tenancy/platform/index.ts';
import type { Operator } from '../../kernel/caller.ts';
import { operation } from '../../kernel/contract/operation.ts';
import type { OperatorPermission } from '../../kernel/contract/operator-permissions.ts';
import { iso } from '../../kernel/effects.ts';
import { named, nullable, oneOf, text, time } from '../../kernel/schema.ts';
import type { Runtime } from '../../runtime/operation/operate.ts';
import { operatorHandle } from '../handle.ts';
import { CHECK_STATUS_DESCRIPTION, VERIFICATION_STATUS_DESCRIPTION } from '../schemas.ts';
import { AgentState } from './agents.ts';

/** Maximum number of items of each kind. */
const MAX_ITEMS = 100;
const optional = Type.Optional;
const CHECK_STATUSES = Object.keys(customerFeature.states.check.transitions);
const params = Type.Object({ customerId: text('ID of the customer.') });

const list = <S extends Parameters<typeof Type.Array>[0]>(item: S, description: string) =>
  Type.Array(item, { description: `${description}. Newest first, at most ${MAX_ITEMS} items.` });

const amount = (description: string) =>
  Type.Integer({ format: 'int64', description: `${description}, in minor units.` });

const Channel = oneOf(['PENDING', 'VERIFIED'], {
  description: 'Status of the verification of the contact channel.',
});

const Account = Type.Object({
  accountId: text('ID of the account.'),
  type: text(
    'Type of the account, such as `INTERNAL_FIAT`. EMBEDDED_WALLET has a wallet with the same ID.',
  ),
  currency: text('Currency code.'),
  status: text('Status of the account, such as `ACTIVE`.'),
  balance: amount('Available balance'),
  held: amount('Amount held for payments'),
  owed: amount('Amount that the account owes'),
  createdAt: time('Time of creation.'),
});

const ExternalAccount = Type.Object({
  accountId: text('ID of the account.'),
  accountType: text('Type of the account, such as `EUR_ACCOUNT`.'),
  currency: text('Currency code.'),
  status: text('Status of the account, such as `ACTIVE`.'),
  createdAt: time('Time of creation.'),
});

const Card = Type.Object({
  cardId: text('ID of the card.'),
  state: text('State of the card, such as `ACTIVE`.'),
  last4: nullable(text('Last four digits of its number, or null until issued.')),
  createdAt: time('Time of creation.'),
});

const Agent = Type.Object({
  agentId: text('ID of the agent.'),
  state: AgentState,
  createdAt: time('Time of creation.'),
});

const Document = Type.Object({
  documentId: text('ID of the document.'),
  holderId: text('ID of the customer or beneficial owner.'),
  documentType: DocumentType,
  submittedAt: nullable(time('Time of the first submission to a check, or null until then.')),
  createdAt: time('Time of the upload.'),
});

const Verification = Type.Object(
  {
    verificationId: text('ID of the verification.'),
    status: oneOf(VERIFICATION_STATUSES, { description: VERIFICATION_STATUS_DESCRIPTION }),
    decidedBy: nullable(
      text('Source of the decision: `operator` or `connector`. Null until the decision.'),
    ),
    createdAt: time('Time of the submission.'),
    updatedAt: time('Time of the last change.'),
  },
  { description: 'The latest verification, or null before the first submission.' },
);

const Authentication = Type.Object(
  {
    isUnderSca: Type.Boolean({ description: 'Whether strong customer authentication applies.' }),
    factors: Type.Array(Type.String(), {
      description: 'Enrolled factors: SMS_OTP, TOTP or PASSKEY.',
    }),
    openResets: Type.Integer({ description: 'Number of open factor resets.' }),
  },
  {
    description:
      'Strong customer authentication of the customer. Requires `authentication.read`. Absent after an ' +
      'erasure. `getCustomerAuthentication` returns details.',
  },
);

const get = operation({
  operationId: 'getCustomerOfPlatform',
  method: 'GET',
  path: '/customers/{customerId}',
  tag: 'Customers',
  summary: 'Get the state of a customer',
  description:
    'Returns the state of a customer without personal data. Lists for which the operator has no ' +
    'permission are absent.',
  auth: 'operator',
  operatorPermission: 'customers.read',
  commands: [],
  params,
  replies: {
    200: named(
      'CustomerState',
      Type.Object(
        {
          id: text('ID of the customer.'),
          platformId: text('Platform of the customer.'),
          type: oneOf(['INDIVIDUAL', 'BUSINESS'], { description: 'Type of the customer.' }),
          status: oneOf(CHECK_STATUSES, { description: CHECK_STATUS_DESCRIPTION }),
          region: nullable(text('Region of the customer, or null if there is none.')),
          currencies: nullable(
            Type.Array(Type.String(), {
              description:
                'Currencies of the customer, or null for the currencies of the platform.',
            }),
          ),
          contactVerification: nullable(
            Type.Object(
              { email: Channel, phone: Channel },
              {
                description:
                  'Verification of e-mail address and telephone, or null if not required.',
              },
            ),
          ),
          hasAcceptedTerms: Type.Boolean({ description: 'Whether the terms were accepted.' }),
          isErased: Type.Boolean({ description: 'Whether the personal data was erased.' }),
          verification: nullable(Verification),
          documents: list(Document, 'Documents without their content'),
          accounts: optional(list(Account, 'Internal accounts. Requires `accounts.read`')),
          externalAccounts: list(ExternalAccount, 'External accounts that were not deleted'),
          cards: optional(list(Card, 'Cards. Requires `cards.read`')),
          agents: optional(list(Agent, 'Agents that were not deleted. Requires `agents.read`')),
          hourlyPayments: nullable(
            Type.Object(
              {
                maximum: Type.Integer({ description: 'Maximum number of payments per hour.' }),
                used: Type.Integer({ description: 'Payments started in the current hour.' }),
              },
              {
                description: 'Hourly payment limit and its use, or null if the platform has none.',
              },
            ),
          ),
          authentication: optional(Authentication),
          deletedAt: nullable(time('Time of the deletion, or null if it was not deleted.')),
          createdAt: time('Time of creation.'),
          updatedAt: time('Time of the last change.'),
        },
        {
          description:
            'State of a customer without personal data. Lists for which the operator has no ' +
            'permission are absent.',
        },
      ),
    ),
  },
  errors: [],
  notFound: 'CUSTOMER_NOT_FOUND',
});

async function accountsOf(runtime: Runtime, customerId: string) {
  const { data } = await accountsByOperator.page(runtime, { customerId, limit: MAX_ITEMS });
  return data.map(({ accountId, type, currency, status, balance, held, owed, createdAt }) => ({
    ...{ accountId, type, currency, status },
    ...{ balance, held, owed, createdAt },
  }));
}

async function externalAccountsOf({ db }: Runtime, customerId: string) {
  const filter = { customer_id: customerId, deleted_at: null };
  const order = { orderBy: 'created_at', descending: true, limit: MAX_ITEMS } as const;
  const rows = await findExternalAccounts(db, filter, order);
  return rows.map(({ id, account_type, currency, status, created_at }) => ({
    ...{ accountId: id, accountType: account_type, currency, status },
    createdAt: iso(created_at),
  }));
}

async function cardsOf(runtime: Runtime, customerId: string) {
  const { data } = await searchCards(runtime, { customerId, limit: MAX_ITEMS });
  return data.map(({ cardId, state, last4, createdAt }) => ({ cardId, state, last4, createdAt }));
}

async function agentsOf(runtime: Runtime, customerId: string) {
  const { data } = await searchAgents(runtime, { customerId, limit: MAX_ITEMS });
  return data.map(({ agentId, state, createdAt }) => ({ agentId, state, createdAt }));
}

async function authenticationOf(runtime: Runtime, customerId: string) {
  const { isUnderSca, factors, openResets } = await scaDetails(runtime, customerId);
  const names = factors.map(({ factor }) => String(factor));
  return { isUnderSca, factors: names, openResets: openResets.length };
}

async function verificationOf(runtime: Runtime, customerId: string) {
  const verificationRow = await latestVerification(runtime, customerId);
  if (!verificationRow) return null;
  const { verificationId, status, decidedBy, createdAt, updatedAt } = verificationRow;
  return { verificationId, status, decidedBy, createdAt, updatedAt };
}

/** Returns the value if the operator has the permission. */
async function ifPermitted<V>(
  { permissions }: Operator,
  permission: OperatorPermission,
  read: () => Promise<V>,
): Promise<V | undefined> {
  return permissions.includes(permission) ? read() : undefined;
}

async function stateOf(runtime: Runtime, operator: Operator, row: CustomerRow) {
  const { id, platform_id: platformId } = row;
  const platform = await platformById(runtime, platformId);
  const now = await runtime.clocks.nowOf({ platformId });
  const [verification, documents, externalAccounts, hourlyPayments] = await Promise.all([
    verificationOf(runtime, id),
    documentLists.summaries(runtime, id, MAX_ITEMS),
    externalAccountsOf(runtime, id),
    hourlyUsage(runtime.db, platform, id, now),
  ]);
  const isErased = row.data_key === null;
  const [accounts, cards, agents, authentication] = await Promise.all([
    ifPermitted(operator, 'accounts.read', () => accountsOf(runtime, id)),
    ifPermitted(operator, 'cards.read', () => cardsOf(runtime, id)),
    ifPermitted(operator, 'agents.read', () => agentsOf(runtime, id)),
    ifPermitted(operator, 'authentication.read', async () =>
      isErased ? undefined : authenticationOf(runtime, id),
    ),
  ]);
  return {
    ...customerPages.presentOne(row),
    ...{ verification, documents, externalAccounts, hourlyPayments },
    ...(accounts ? { accounts } : {}),
    ...(cards ? { cards } : {}),
    ...(agents ? { agents } : {}),
    ...(authentication ? { authentication } : {}),
  };
}

export const customerStateOperations = [
  operatorHandle(get, async ({ installation: { runtime }, operator }, { params }) => ({
    status: 200,
    body: await stateOf(runtime, operator, await customerById(runtime.db, params.customerId)),
  })),
];
