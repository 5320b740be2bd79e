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
import { quoteFeature } from './features/payments/quotes/index.ts';
import { recallFeature } from './features/payments/recalls/index.ts';
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
  /** Subject and initial state of the lifecycle. */
  description: string;
  states: Lifecycle;
}

/** All lifecycles, in the order of the page. */
export const CHAPTERS: readonly Chapter[] = [
  {
    title: 'Outgoing payment',
    description: `The \`status\` of a transaction of type OUTGOING. It is PENDING when its quote or
transfer is created. A completed payment fails if the receiving bank returns it later.`,
    states: transactionFeature.states.outgoing,
  },
  {
    title: 'Incoming payment',
    description: `The \`status\` of a transaction of type INCOMING. It is initially COMPLETED if the
funds are available immediately. It is PENDING if they are awaited, are held, or need an approval or
a declaration.`,
    states: transactionFeature.states.incoming,
  },
  {
    title: 'Card payment',
    description: `The \`status\` of a transaction of type CARD. It is initially AUTHORIZED, or
SETTLED if the network authorizes and clears in a single message. EXCEPTION means that the network
was paid but the cardholder's account could not be debited. An operator decides who pays.`,
    states: cardPaymentFeature.states.cardPayment,
  },
  {
    title: 'Refund',
    description: `The \`refund.status\` of a transaction. NONE is a transaction without a refund.
FAILED means that the funds could not be returned and are in suspense until an operator returns
them.`,
    states: transactionFeature.states.refund,
  },
  {
    title: 'Recall',
    description: `The request for the return of a settled payout, initially REQUESTED. ACCEPTED announces
the return of the funds. The payment fails when the funds have been returned.`,
    states: recallFeature.states.recall,
  },
  {
    title: 'Firm quote',
    description: `The rate that a provider holds for a quote, initially HELD. It is redeemed after the
execution of the quote. DIFFERENT means that other amounts were exchanged.`,
    states: quoteFeature.states.firmQuote,
  },
  {
    title: 'Internal account',
    description: `The \`status\` of an internal account. It is initially ACTIVE, or PENDING for an
account that is added to an existing owner. New transfers are rejected in every state except
ACTIVE. Earlier holds continue and refunds are credited. Only an empty account can be closed.`,
    states: internalAccountFeature.states.internalAccount,
  },
  {
    title: 'Identity check',
    description: `The \`kycStatus\` of a person or beneficial owner, or the \`kybStatus\` of a
business. It is initially UNVERIFIED, or the result that the sandbox returns immediately. HOLD means
that more information is required.`,
    states: customerFeature.states.check,
  },
  {
    title: 'Import of customers',
    description: `The \`status\` of an import of customers from a file. When every row is
processed, the import is COMPLETED if at least one row became a customer, and FAILED otherwise. It
fails before any row is processed if the file cannot be read.`,
    states: importFeature.states.import,
  },
  {
    title: 'Replay of webhooks',
    description: `The \`status\` of a replay of events to a webhook endpoint. The replay completes
when all its events are queued for delivery, and fails if the endpoint is deleted first.`,
    states: replayFeature.states.webhookReplay,
  },
  {
    title: 'Verification',
    description: `The \`verificationStatus\` of one submission. Its first value is the result of the
submission. A corrected submission is a separate verification.`,
    states: verificationFeature.states.verification,
  },
  {
    title: 'Verification link',
    description: `The internal state of a link to the hosted verification page. It is initially
OPEN, and USED once a submission through it is accepted. An expired link remains OPEN but gives no
access.`,
    states: kycLinkFeature.states.link,
  },
  {
    title: 'Invitation',
    description: `The \`status\` of an invitation. It is initially PENDING. An expired pending
invitation is shown as EXPIRED and can no longer be claimed.`,
    states: invitationFeature.states.invitation,
  },
  {
    title: 'Wallet credential',
    description: `The internal state of a credential of an embedded wallet. It is initially ACTIVE.
A REVOKED credential is no longer listed or accepted, and its sessions are revoked.`,
    states: walletFeature.states.credential,
  },
  {
    title: 'Wallet session',
    description: `The internal state of a session, which is a key that may sign for an embedded
wallet. It is initially ACTIVE, and the session is listed until its \`expiresAt\`. An expired
session remains ACTIVE but cannot sign.`,
    states: walletFeature.states.session,
  },
  {
    title: 'Request to sign',
    description: `The internal state of a request that a wallet signs (\`requestId\`). It is
initially PENDING, and DONE when the reply to the signed request is returned. A signed request that
is executed later is PROCESSING until then. It is SETTLED when work in the background is complete. A
request is DROPPED after too many invalid signatures. A newer request drops expired requests and
requests above the limit.`,
    states: walletFeature.states.request,
  },
  {
    title: 'Wallet recovery',
    description: `The recovery of a wallet by the operator, which adds a credential for a user who
can no longer use any credential. It is initially WAITING, and DONE when the credential is added.
A CANCELLED recovery shows the reason.`,
    states: walletFeature.states.recovery,
  },
  {
    title: 'External account',
    description: `The \`status\` of an external account. The checks at registration determine the
initial status.`,
    states: externalAccountFeature.states.externalAccount,
  },
  {
    title: 'Challenge',
    description: `A challenge that a customer completes with a second factor. It is initially
PENDING. A newer challenge for the same purpose replaces it.`,
    states: scaFeature.states.challenge,
  },
  {
    title: 'Factor reset',
    description: `The \`status\` of the reset of a lost factor. It is initially INITIATED.`,
    states: scaFeature.states.reset,
  },
  {
    title: 'Action of an agent',
    description: `The \`status\` of an action of an agent. It is initially APPROVED if the policy
requires no approval, and PENDING_APPROVAL otherwise. FAILED means that the action was approved
but could no longer be executed.`,
    states: agentFeature.states.action,
  },
  {
    title: 'Device code',
    description: `A code that connects a program as an agent. It is initially PENDING. A new code
replaces codes that were not redeemed.`,
    states: agentFeature.states.code,
  },
  {
    title: 'Card',
    description: `The \`state\` of a card. It is PROCESSING until the issuer has responded. A
platform can freeze, unfreeze and close a card. Only the server closes a PROCESSING card.`,
    states: cardFeature.states.card,
  },
  {
    title: 'Delegated key',
    description: `The \`status\` of a key that signs for a wallet that funds a card. It is initially
PENDING and cannot sign until the owner of the wallet has authorized it. The key is revoked when
its binding to the card is removed.`,
    states: cardFeature.states.delegatedKey,
  },
  {
    title: 'Provider account',
    description: `The \`status\` of a platform's account at a stablecoin provider. It is initially
ACTIVE, and ACTIVE again after the account is linked again.`,
    states: stablecoinFeature.states.providerAccount,
  },
  {
    title: 'Stablecoin',
    description: `The \`issuanceStatus\` of a stablecoin. The initial status is reported by the provider
at the time of registration.`,
    states: stablecoinFeature.states.issuance,
  },
  {
    title: 'Use of a stablecoin in the service',
    description: `The \`serviceOperationsStatus\` of a stablecoin. It is initially NOT_ENABLED. A
platform requests enablement and the operator decides. ENABLING becomes ENABLED once the token is
provisioned.`,
    states: stablecoinFeature.states.service,
  },
  {
    title: 'Mint or burn',
    description: `The \`status\` of a mint or burn. It is CREATED until it is submitted to the
provider.`,
    states: stablecoinFeature.states.operation,
  },
  {
    title: 'Message',
    description: `The status of an e-mail or text message, which the operator can read. It is
initially QUEUED. KEPT means that the sandbox stores the message for the operator instead of
sending it.`,
    states: messageFeature.states.message,
  },
  {
    title: 'File',
    description: `A file that a client uploads. It is initially UPLOADING. It is GONE if its upload
fails, if no operation attaches it within an hour, or if an operation deletes it. The object is then
deleted from storage, and afterwards the row.`,
    states: fileStates,
  },
  {
    title: 'Job',
    description: `Work after a commit. A job is initially queued, and its row is removed in the
change set of its result. A job is dead after its last failed attempt, until an operator retries
or cancels it.`,
    states: jobStates,
  },
  {
    title: 'Operator approval',
    description: `A change that a second operator must approve. It is initially PENDING. A change
that is not decided in time remains PENDING and is shown as EXPIRED.`,
    states: approvalFeature.states.approval,
  },
  {
    title: 'Operator user',
    description:
      'The `status` of a user of the operator API. An ACTIVE user is shown as INVITED until the ' +
      'user has enrolled.',
    states: operatorUserFeature.states.operatorUser,
  },
];

const edgesOf = ({ transitions: events }: Lifecycle): [string, string, string][] =>
  Object.entries(events).flatMap(([from, to]) =>
    Object.entries(to).map(([event, nextState]): [string, string, string] => [
      from,
      event,
      String(nextState),
    ]),
  );

/** A Markdown table, padded as the formatter requires. */
function renderTable(heads: string[], rows: string[][]): string {
  const widths = heads.map((head, index) =>
    Math.max(head.length, ...rows.map((row) => row[index]?.length ?? 0)),
  );
  const renderLine = (cells: string[], separator: string) =>
    `| ${cells.map((cell, index) => cell.padEnd(widths[index] ?? 0, separator)).join(' | ')} |`;
  const separatorLine = renderLine(
    heads.map(() => ''),
    '-',
  );
  return [renderLine(heads, ' '), separatorLine, ...rows.map((row) => renderLine(row, ' '))].join(
    '\n',
  );
}

function renderChapter({ title, description, states }: Chapter): string {
  const allEdges = edgesOf(states);
  const finalStates = Object.keys(states.transitions).filter((from) =>
    allEdges.every(([each]) => each !== from),
  );
  const diagramLines = allEdges.map(([from, event, to]) => `  ${from} --> ${to}: ${event}`);
  const rows = allEdges.map(([from, event, to]) => [`\`${from}\``, event, `\`${to}\``]);
  const finalList = finalStates.map((state) => `\`${state}\``).join(', ');
  return [
    `## ${title}`,
    description,
    ['```mermaid', 'stateDiagram-v2', ...diagramLines, '```'].join('\n'),
    renderTable(['From', 'Event', 'To'], rows),
    finalStates.length ? `Final: ${finalList}.` : 'No state is final.',
  ].join('\n\n');
}

const OPENING = `# Lifecycles

This page shows every lifecycle of the server: its states, and the events that change them. A
transition that is not listed is an error when it is staged (\`kernel/states.ts\`,
\`runtime/db/table.ts\`), so it is never committed. \`npm run states\` generates this page from the
transition tables. Do not edit it.`;

/** The text of docs/states.md. */
export const statesPage = (): string =>
  `${[OPENING, ...CHAPTERS.map(renderChapter)].join('\n\n')}\n`;
