// Where data about a customer lies: for every table that names one, how its rows are opened for an export,
// and what an erasure does about them. A test holds the list against the database, so that a table that
// comes later is forgotten by neither.
import { type DelegatedKeyRow, delegatedKeyPersonal } from '../../features/cards/index.ts';
import { type DocumentRow, documentPersonal } from '../../features/customers/documents/index.ts';
import {
  type CustomerRow,
  type OwnerRow,
  ownerPersonal,
  personalOf,
} from '../../features/customers/records/index.ts';
import { findingsOf, type VerificationRow } from '../../features/customers/verifications/index.ts';
import { type MessageRow, openMessage } from '../../features/notifications/messages/index.ts';
import { type ScaEventRow, scaEventPersonal } from '../../features/sca/index.ts';
import {
  type AuthorizationRow,
  authorizationPersonal,
  type CredentialRow,
  credentialPersonal,
} from '../../features/wallets/accounts/index.ts';
import { eventContext } from '../../runtime/operation/context.ts';
import type { DataKey, Vault } from '../../runtime/security/vault.ts';

/** What stands where something was. */
export const ERASED = 'erased';

/** A row as JSON has it. */
export type Json = Record<string, unknown>;

/** What sealed columns are opened with; without the key nothing is. */
export interface Opener {
  vault: Vault;
  customer: CustomerRow;
  key: DataKey | undefined;
}

interface Held {
  /** Which rows of the table, as `t`, are about the customer `$1`. */
  rows: string;
  /** Columns that say nothing about anybody: hashes, and keys that are shown opened. */
  without?: readonly string[];
  /** What is sealed in a row, opened; it takes the place of the columns of the same names. */
  open?: (opener: Opener, row: Json) => Json;
  /** What an erasure does about the rows. */
  erasure: 'emptied' | 'removed' | { stays: string };
}

const OF_CUSTOMER = 't.customer_id = $1';
const ACCOUNTS_OUTSIDE = 'select id from external_accounts where customer_id = $1';
const HASHES = ['email_digest', 'phone_digest', 'identifier_digest'];
const as = <R>(row: Json) => row as unknown as R;

/** Every table that says something about a customer, in the order of an export. */
export const HELD: Readonly<Record<string, Held>> = {
  customers: {
    rows: 't.id = $1',
    without: [...HASHES, 'data_key', 'details', 'identifier'],
    open: ({ vault, customer }) => ({ personal: personalOf(vault, customer) }),
    erasure: 'emptied',
  },
  beneficial_owners: {
    rows: OF_CUSTOMER,
    without: HASHES,
    open: ({ vault, customer }, row) => ({
      personal: ownerPersonal(vault, customer, as<OwnerRow>(row)) ?? null,
    }),
    erasure: 'emptied',
  },
  documents: {
    rows: OF_CUSTOMER,
    without: ['file_key'],
    open: ({ vault, key }, row) => ({
      personal: key ? documentPersonal(vault, key, as<DocumentRow>(row)) : null,
    }),
    erasure: 'removed',
  },
  verifications: {
    rows: OF_CUSTOMER,
    open: ({ vault, customer }, row) => ({
      findings: findingsOf(vault, customer, as<VerificationRow>(row)),
    }),
    erasure: 'emptied',
  },
  kyc_links: { rows: OF_CUSTOMER, without: ['secret_hash'], erasure: 'removed' },
  messages: {
    rows: OF_CUSTOMER,
    without: ['recipient', 'content'],
    open: ({ vault, key }, row) => ({ ...openMessage(vault, key, as<MessageRow>(row)) }),
    erasure: 'emptied',
  },
  invitations: {
    rows: 't.customer_id = $1 or t.invitee_customer_id = $1',
    erasure: 'emptied',
  },
  internal_accounts: {
    rows: OF_CUSTOMER,
    erasure: { stays: 'our own account: a number, a currency and where it is paid in' },
  },
  wallets: { rows: OF_CUSTOMER, without: ['seed'], erasure: 'emptied' },
  credentials: {
    rows: OF_CUSTOMER,
    without: ['slot', 'challenge_hash'],
    open: (opener, row) => credentialPersonal(opener, as<CredentialRow>(row)),
    erasure: 'emptied',
  },
  wallet_sessions: { rows: OF_CUSTOMER, erasure: 'removed' },
  wallet_requests: {
    rows: OF_CUSTOMER,
    without: ['payload', 'input', 'bound', 'signer', 'stamp_hash', 'reply'],
    erasure: 'removed',
  },
  otp_targets: { rows: OF_CUSTOMER, without: ['target'], erasure: 'removed' },
  wallet_authorizations: {
    rows: OF_CUSTOMER,
    open: (opener, row) => authorizationPersonal(opener, as<AuthorizationRow>(row)),
    erasure: { stays: 'which key signed for what; the text lies under the key that is forgotten' },
  },
  wallet_recoveries: {
    rows: OF_CUSTOMER,
    without: ['contact_digest'],
    erasure: { stays: 'that a way back into a wallet was asked for, by whom and why' },
  },
  external_accounts: { rows: OF_CUSTOMER, without: ['duplicate_key'], erasure: 'emptied' },
  sca_standings: { rows: 't.id = $1', erasure: 'removed' },
  sca_factors: { rows: OF_CUSTOMER, without: ['facts', 'recovery'], erasure: 'removed' },
  sca_enrollments: { rows: OF_CUSTOMER, without: ['facts'], erasure: 'removed' },
  sca_challenges: { rows: OF_CUSTOMER, without: ['nonce'], erasure: 'removed' },
  sca_events: {
    rows: OF_CUSTOMER,
    open: (opener, row) => scaEventPersonal(opener, as<ScaEventRow>(row)),
    erasure: { stays: 'what happened and when; from where lies under the key that is forgotten' },
  },
  sca_resets: { rows: OF_CUSTOMER, without: ['token_hash'], erasure: 'removed' },
  ownership_challenges: {
    rows: 't.id in (select id from external_accounts where customer_id = $1)',
    without: ['nonce', 'token_hash'],
    erasure: 'removed',
  },
  account_moves: {
    rows: `t.account_id in (select id from internal_accounts where customer_id = $1
      union all select id from external_accounts where customer_id = $1
      union all select o.id from stablecoin_operations o
        where o.destination ->> 'accountId' in (${ACCOUNTS_OUTSIDE})
          or o.source ->> 'externalAccountId' in (${ACCOUNTS_OUTSIDE}))`,
    erasure: { stays: 'which account, mint or burn an operator moved, and why' },
  },
  stablecoin_links: {
    rows: `t.account_id in (${ACCOUNTS_OUTSIDE})`,
    erasure: { stays: 'what a provider calls an account, which an order under way is still about' },
  },
  stablecoin_operations: {
    rows: `t.destination ->> 'accountId' in (${ACCOUNTS_OUTSIDE})
      or t.source ->> 'externalAccountId' in (${ACCOUNTS_OUTSIDE})`,
    erasure: {
      stays: 'what a platform minted or burnt, with the ids of accounts that are emptied',
    },
  },
  lookups: { rows: OF_CUSTOMER, erasure: 'removed' },
  quotes: {
    rows: 't.id in (select quote_id from transactions where customer_id = $1)',
    erasure: 'emptied',
  },
  transactions: { rows: OF_CUSTOMER, erasure: 'emptied' },
  agents: { rows: OF_CUSTOMER, without: ['token_hash'], erasure: 'removed' },
  agent_actions: { rows: OF_CUSTOMER, erasure: 'emptied' },
  agent_audit: { rows: OF_CUSTOMER, erasure: { stays: 'who did what with an agent, by ids' } },
  cards: { rows: OF_CUSTOMER, without: ['secret'], erasure: 'emptied' },
  card_funding_sources: {
    rows: OF_CUSTOMER,
    erasure: { stays: 'which account of ours paid for which card' },
  },
  delegated_keys: {
    rows: OF_CUSTOMER,
    without: ['signer'],
    open: (opener, row) => delegatedKeyPersonal(opener, as<DelegatedKeyRow>(row)),
    erasure: 'removed',
  },
  card_messages: { rows: OF_CUSTOMER, erasure: 'emptied' },
  card_reveals: {
    rows: OF_CUSTOMER,
    without: ['id'],
    erasure: { stays: 'which token asked to see a number, and when' },
  },
  erasures: { rows: 't.id = $1', erasure: { stays: 'that the customer was erased, and why' } },
};

/** Tables whose ids events go by, with what tells that a row is the customer's, `$1`. */
const SUBJECTS: readonly (readonly [string, string])[] = [
  ['beneficial_owners', 'customer_id = $1'],
  ['documents', 'customer_id = $1'],
  ['verifications', 'customer_id = $1'],
  ['external_accounts', 'customer_id = $1'],
  ['invitations', 'customer_id = $1 or invitee_customer_id = $1'],
  ['transactions', 'customer_id = $1'],
  ['agent_actions', 'customer_id = $1'],
  ['cards', 'customer_id = $1'],
];

/** Ids that events about the customer `$1` go by. */
export const OWNED = [
  'select $1::text as id',
  ...SUBJECTS.map(([table, theirs]) => `select id from ${table} where ${theirs}`),
].join('\n  union all ');

/**
 * Whether one id is among them, by a look for it in each table. The looks stand where one value is wanted, so
 * that no plan reads everything that a customer has instead.
 */
export const isOwned = (id: string): string =>
  [
    `${id} = $1`,
    ...SUBJECTS.map(([table, theirs]) => `(select ${theirs} from ${table} where id = ${id})`),
  ].join('\n      or ');

/** An event with its data as it was told; an invitation's may be sealed for the one who invited. */
export function openEvent({ vault, key }: Opener, row: Json): Json {
  const { sealed_for: owner, data, ...rest } = row as Json & { id: string; data: string };
  if (owner === null) return { ...rest, data: JSON.parse(data) };
  if (!key || key.owner !== owner || data === '') return { ...rest, data: null };
  return { ...rest, data: JSON.parse(vault.open(key, data, eventContext(rest.id)).toString()) };
}
