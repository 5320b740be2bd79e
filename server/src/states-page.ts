// Generates docs/states.md, the page of all lifecycles, from the transition tables of the server. A
// test compares the page with the generated text.
import { agentFeature } from './features/agents/index.ts';
import { internalAccountFeature } from './features/balances/internal-accounts/index.ts';
import { cardFeature } from './features/cards/index.ts';
import { kycLinkFeature } from './features/customers/hosted-verification/index.ts';
import { importFeature } from './features/customers/imports/index.ts';
import { invitationFeature } from './features/customers/invitations/index.ts';
import { customerFeature } from './features/customers/records/index.ts';
import { verificationFeature } from './features/customers/verifications/index.ts';
import { messageFeature } from './features/notifications/messages/index.ts';
import { replayFeature } from './features/notifications/replays/index.ts';
import { externalAccountFeature } from './features/payees/external-accounts/index.ts';
import { cardPaymentFeature } from './features/payments/card-payments/index.ts';
import { transactionFeature } from './features/payments/transactions/index.ts';
import { scaFeature } from './features/sca/authentication/index.ts';
import { stablecoinFeature } from './features/stablecoins/index.ts';
import { approvalFeature } from './features/staff/approvals/index.ts';
import { operatorUserFeature } from './features/staff/users/index.ts';
import { walletFeature } from './features/wallets/index.ts';
import type { Lifecycle } from './kernel/states.ts';
import { fileStates } from './runtime/files/files.ts';
import { jobStates } from './runtime/jobs/jobs-table.ts';

interface Chapter {
  title: string;
  /** Its subject and initial state. */
  about: string;
  states: Lifecycle;
}

/** All lifecycles, in the order of the page. */
export const CHAPTERS: readonly Chapter[] = [
  {
    title: 'Outgoing payment',
    about: `\`status\` of a transaction of type OUTGOING. Initially PENDING, with its quote or
transfer. A completed payment fails if the receiving bank returns it later.`,
    states: transactionFeature.states.outgoing,
  },
  {
    title: 'Incoming payment',
    about: `\`status\` of a transaction of type INCOMING. Initially COMPLETED if the funds are
available at once; PENDING if they are held, or need an approval or a declaration.`,
    states: transactionFeature.states.incoming,
  },
  {
    title: 'Card payment',
    about: `\`status\` of a transaction of type CARD. Initially AUTHORIZED, or SETTLED if the
network authorizes and clears in a single message. EXCEPTION: the network was paid
and the cardholder's account could not be debited; an operator decides.`,
    states: cardPaymentFeature.states.cardPayment,
  },
  {
    title: 'Refund',
    about: `\`refund.status\` of a transaction; NONE is a transaction without a refund. FAILED: the
funds could not be returned and are in suspense until an operator returns them.`,
    states: transactionFeature.states.refund,
  },
  {
    title: 'Internal account',
    about: `\`status\` of an internal account. Initially ACTIVE, or PENDING for an account added to
an existing owner. In every state but ACTIVE new transfers are rejected; earlier holds continue
and refunds are credited. Only an empty account can be closed.`,
    states: internalAccountFeature.states.internalAccount,
  },
  {
    title: 'Identity check',
    about: `\`kycStatus\` of a person, \`kybStatus\` of a business, \`kycStatus\` of a beneficial
owner. Initially UNVERIFIED, or the result that the sandbox returns at once. HOLD: more
information is required.`,
    states: customerFeature.states.check,
  },
  {
    title: 'Import of customers',
    about: `\`status\` of an import of customers from a file. It ends when every row was processed:
COMPLETED if at least one row became a customer. A file that cannot be read fails before any row.`,
    states: importFeature.states.import,
  },
  {
    title: 'Replay of webhooks',
    about: `\`status\` of a replay of events to a webhook endpoint. It completes when all its events
are queued for delivery, and fails if the endpoint is deleted first.`,
    states: replayFeature.states.webhookReplay,
  },
  {
    title: 'Verification',
    about: `\`verificationStatus\` of one submission. Its first value is the result of the
submission. A corrected case is submitted again, as a separate verification.`,
    states: verificationFeature.states.verification,
  },
  {
    title: 'Verification link',
    about: `Internal: a link to the hosted verification page. Initially OPEN, and USED once a
submission through it was accepted. An expired link remains OPEN but gives no access.`,
    states: kycLinkFeature.states.link,
  },
  {
    title: 'Invitation',
    about: `\`status\` of an invitation. Initially PENDING; an expired pending invitation is shown as
EXPIRED and can no longer be claimed.`,
    states: invitationFeature.states.invitation,
  },
  {
    title: 'Wallet credential',
    about: `Internal: a credential of an embedded wallet. Initially ACTIVE; a REVOKED
credential is no longer listed or accepted, and its sessions have ended.`,
    states: walletFeature.states.credential,
  },
  {
    title: 'Wallet session',
    about: `Internal: a key that may sign for an embedded wallet. Initially ACTIVE and listed until
its \`expiresAt\`; an expired session remains ACTIVE but cannot sign.`,
    states: walletFeature.states.session,
  },
  {
    title: 'Request to sign',
    about: `Internal: the request of a \`requestId\`. Initially PENDING. PROCESSING: signed and in
progress. SETTLED: completed, reply not yet returned. DONE: reply returned. DROPPED: expired,
wrongly signed too often, or replaced by newer requests.`,
    states: walletFeature.states.request,
  },
  {
    title: 'Wallet recovery',
    about: `Shown to the operator: a new credential for a user who can no longer use any
credential. Initially WAITING, and DONE when the credential was added. CANCELLED: the recovery shows
the reason.`,
    states: walletFeature.states.recovery,
  },
  {
    title: 'External account',
    about: `\`status\` of an external account. The initial status follows from the checks at
registration.`,
    states: externalAccountFeature.states.externalAccount,
  },
  {
    title: 'Challenge',
    about: `A challenge that a customer completes with a second factor. Initially PENDING; a newer
challenge for the same purpose replaces it.`,
    states: scaFeature.states.challenge,
  },
  {
    title: 'Factor reset',
    about: `\`status\` of the reset of a lost factor. Initially INITIATED.`,
    states: scaFeature.states.reset,
  },
  {
    title: 'Action of an agent',
    about: `\`status\` of an action. Initially APPROVED if its policy needs no approval, else
PENDING_APPROVAL. FAILED: approved, but could no longer be executed.`,
    states: agentFeature.states.action,
  },
  {
    title: 'Device code',
    about: `A code by which a program becomes an agent. Initially PENDING; a new code replaces
codes that were not redeemed.`,
    states: agentFeature.states.code,
  },
  {
    title: 'Card',
    about: `\`state\` of a card. Initially PROCESSING until its issuer has responded. A platform
freezes, unfreezes and closes; a PROCESSING card is closed only by the service.`,
    states: cardFeature.states.card,
  },
  {
    title: 'Delegated key',
    about: `\`status\` of a key that signs for a wallet which funds a card. Initially PENDING: it
cannot sign until the owner of the wallet has authorized it. It expires with its binding to the card.`,
    states: cardFeature.states.delegatedKey,
  },
  {
    title: 'Provider account',
    about: `\`status\` of a platform's account at a stablecoin provider. Initially ACTIVE, and
ACTIVE again after it is relinked.`,
    states: stablecoinFeature.states.providerAccount,
  },
  {
    title: 'Stablecoin',
    about: `\`issuanceStatus\` of a stablecoin. The initial status is the provider's at
registration.`,
    states: stablecoinFeature.states.issuance,
  },
  {
    title: 'Use of a stablecoin in the service',
    about: `\`serviceOperationsStatus\` of a stablecoin. Initially NOT_ENABLED. A platform requests
enablement, the operator decides; ENABLING becomes ENABLED once the token is provisioned.`,
    states: stablecoinFeature.states.service,
  },
  {
    title: 'Mint or burn',
    about: `\`status\` of a mint or burn. Initially CREATED, before it is submitted to the
provider.`,
    states: stablecoinFeature.states.operation,
  },
  {
    title: 'Message',
    about: `Status of an e-mail or a text message, for the operator. Initially QUEUED. KEPT: the
sandbox stores the message for the operator instead of sending it.`,
    states: messageFeature.states.message,
  },
  {
    title: 'File',
    about: `A file sent by a client. Initially UPLOADING. GONE: not attached by an operation within
an hour, or deleted by its operation. The object is then deleted from storage, and afterwards the
row.`,
    states: fileStates,
  },
  {
    title: 'Job',
    about: `Work after a commit, for the operator. Initially queued; its row is removed in
the change set of its result. A job that failed too often is dead until an operator retries or
cancels it.`,
    states: jobStates,
  },
  {
    title: 'Operator approval',
    about: `A change of an operator that another one must approve. Initially PENDING. One that was not
decided in time remains PENDING and is shown as EXPIRED.`,
    states: approvalFeature.states.approval,
  },
  {
    title: 'Operator user',
    about:
      '`status` of a user of the operator API. An ACTIVE one is INVITED until it has enrolled.',
    states: operatorUserFeature.states.operatorUser,
  },
];

const edges = ({ transitions: events }: Lifecycle): [string, string, string][] =>
  Object.entries(events).flatMap(([from, to]) =>
    Object.entries(to).map(([event, next]): [string, string, string] => [
      from,
      event,
      String(next),
    ]),
  );

/** Padded as the Markdown formatter requires. */
function table(heads: string[], rows: string[][]): string {
  const widths = heads.map((head, index) =>
    Math.max(head.length, ...rows.map((row) => row[index]?.length ?? 0)),
  );
  const line = (cells: string[], by: string) =>
    `| ${cells.map((cell, index) => cell.padEnd(widths[index] ?? 0, by)).join(' | ')} |`;
  const rule = line(
    heads.map(() => ''),
    '-',
  );
  return [line(heads, ' '), rule, ...rows.map((row) => line(row, ' '))].join('\n');
}

function chapter({ title, about, states }: Chapter): string {
  const all = edges(states);
  const finalStates = Object.keys(states.transitions).filter((from) =>
    all.every(([each]) => each !== from),
  );
  const diagram = all.map(([from, event, to]) => `  ${from} --> ${to}: ${event}`);
  const rows = all.map(([from, event, to]) => [`\`${from}\``, event, `\`${to}\``]);
  const finalList = finalStates.map((state) => `\`${state}\``).join(', ');
  return [
    `## ${title}`,
    about,
    ['```mermaid', 'stateDiagram-v2', ...diagram, '```'].join('\n'),
    table(['From', 'Event', 'To'], rows),
    finalStates.length ? `Final: ${finalList}.` : 'No state is final.',
  ].join('\n\n');
}

const OPENING = `# Lifecycles

Generated by \`npm run states\` from the transition tables of the server; do not edit. Any other
transition throws while it is staged (\`kernel/states.ts\`, \`runtime/db/table.ts\`), so it is never
committed.`;

/** The text of docs/states.md. */
export const statesPage = (): string => `${[OPENING, ...CHAPTERS.map(chapter)].join('\n\n')}\n`;
