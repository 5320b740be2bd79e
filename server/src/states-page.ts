// The page of the documentation that shows every lifecycle, made from the tables that the server itself goes
// by. A drawing that somebody keeps by hand is wrong within a year; this one cannot be, because a test
// holds the page against what is made here.
import { agentFeature } from './features/agents/index.ts';
import { internalAccountFeature } from './features/balances/internal-accounts/index.ts';
import { cardFeature } from './features/cards/index.ts';
import { kycLinkFeature } from './features/customers/hosted-verification/index.ts';
import { importFeature } from './features/customers/imports/index.ts';
import { invitationFeature } from './features/customers/invitations/index.ts';
import { customerFeature } from './features/customers/records/index.ts';
import { verificationFeature } from './features/customers/verifications/index.ts';
import { messageFeature } from './features/notifications/messages/index.ts';
import { externalAccountFeature } from './features/payees/external-accounts/index.ts';
import { cardPaymentFeature } from './features/payments/card-payments/index.ts';
import { transactionFeature } from './features/payments/transactions/index.ts';
import { scaFeature } from './features/sca/authentication/index.ts';
import { stablecoinFeature } from './features/stablecoins/index.ts';
import { walletFeature } from './features/wallets/index.ts';
import type { Lifecycle } from './kernel/states.ts';
import { fileStates } from './runtime/files/files.ts';
import { jobStates } from './runtime/jobs/jobs-table.ts';

interface Chapter {
  title: string;
  /** What goes through it, and where it begins. */
  about: string;
  states: Lifecycle;
}

/** Every lifecycle there is, in the order of the page. */
export const CHAPTERS: readonly Chapter[] = [
  {
    title: 'Outgoing payment',
    about: `\`status\` of a transaction of type OUTGOING. It begins PENDING, with its quote or transfer. A
completed payment fails when the receiving bank sends the money back later.`,
    states: transactionFeature.states.outgoing,
  },
  {
    title: 'Incoming payment',
    about: `\`status\` of a transaction of type INCOMING. Money that is usable at once begins COMPLETED; what
must be waited for, approved or explained begins PENDING.`,
    states: transactionFeature.states.incoming,
  },
  {
    title: 'Card payment',
    about: `\`status\` of a transaction of type CARD. It begins AUTHORIZED, or SETTLED where the network
asks and clears at once. In EXCEPTION the network has its money and we have not got ours: an
operator ends it.`,
    states: cardPaymentFeature.states.cardPayment,
  },
  {
    title: 'Refund',
    about: `\`refund.status\` of a transaction; NONE stands for a transaction without a refund. FAILED means
that the money could not go back by itself and waits for a person, who may give it back later.`,
    states: transactionFeature.states.refund,
  },
  {
    title: 'Internal account',
    about: `\`status\` of an internal account. It begins ACTIVE, or PENDING where its owner was there before
it. In every state but ACTIVE nothing new moves out or in; what was set aside before goes on, and
refunds come back. An account is closed only when nothing is in it.`,
    states: internalAccountFeature.states.internalAccount,
  },
  {
    title: 'Identity check',
    about: `\`kycStatus\` of a person, \`kybStatus\` of a business, \`kycStatus\` of a beneficial owner. It
begins UNVERIFIED, or where the sandbox says at once. HOLD means that more information is wanted.`,
    states: customerFeature.states.check,
  },
  {
    title: 'Import of customers',
    about: `\`status\` of an import of customers from a file. It is over when every row was tried: COMPLETED
where one at least became a customer. A file that cannot be read fails before any does.`,
    states: importFeature.states.import,
  },
  {
    title: 'Verification',
    about: `\`verificationStatus\` of one submission. Its first value is the result of the submission. A
corrected case is submitted again, as a separate verification.`,
    states: verificationFeature.states.verification,
  },
  {
    title: 'Verification link',
    about: `Shown nowhere: a link to the hosted verification page. It begins OPEN, and is USED when a
submission through it was accepted. A link whose day is over stays OPEN and opens nothing.`,
    states: kycLinkFeature.states.link,
  },
  {
    title: 'Invitation',
    about: `\`status\` of an invitation. It begins PENDING; a pending one whose time is over is shown as
EXPIRED and can no longer be claimed.`,
    states: invitationFeature.states.invitation,
  },
  {
    title: 'Wallet credential',
    about: `Shown nowhere: a credential of an embedded wallet. It begins ACTIVE; a REVOKED one is listed no
more, proves nothing, and its sessions ended with it.`,
    states: walletFeature.states.credential,
  },
  {
    title: 'Wallet session',
    about: `Shown nowhere: a key that may sign for an embedded wallet. It begins ACTIVE and is listed until
its \`expiresAt\`; one that has run out stays ACTIVE and signs nothing.`,
    states: walletFeature.states.session,
  },
  {
    title: 'Request to sign',
    about: `Shown nowhere: what a \`requestId\` stands for. It begins PENDING. PROCESSING was signed and is
being done, SETTLED is done and not yet fetched, DONE was answered. What ran out, was signed wrongly
too often or was pushed out by newer ones is DROPPED.`,
    states: walletFeature.states.request,
  },
  {
    title: 'Wallet recovery',
    about: `Shown to the operator: a credential for a user who can prove none. It begins WAITING, and is DONE
when the credential was added. Whatever shows that it should not be makes it CANCELLED.`,
    states: walletFeature.states.recovery,
  },
  {
    title: 'External account',
    about: `\`status\` of an external account. Its first state follows from what is known of it when it is
registered.`,
    states: externalAccountFeature.states.externalAccount,
  },
  {
    title: 'Challenge',
    about: `What a customer is asked to prove by a second factor. It begins PENDING; a newer one about the
same thing replaces it.`,
    states: scaFeature.states.challenge,
  },
  {
    title: 'Factor reset',
    about: `\`status\` of the reset of a factor that a customer has lost. It begins INITIATED.`,
    states: scaFeature.states.reset,
  },
  {
    title: 'Action of an agent',
    about: `\`status\` of an action. It begins APPROVED where its policy lets it through at once, else
PENDING_APPROVAL. FAILED was approved and could not be carried out any more.`,
    states: agentFeature.states.action,
  },
  {
    title: 'Device code',
    about: `A code by which a program becomes an agent. It begins PENDING; a new one replaces those that
were not redeemed.`,
    states: agentFeature.states.code,
  },
  {
    title: 'Card',
    about: `\`state\` of a card. It begins PROCESSING until its issuer has answered. A platform freezes, opens
again and closes; a card that waits is closed by the service alone.`,
    states: cardFeature.states.card,
  },
  {
    title: 'Delegated key',
    about: `\`status\` of a key that signs for a wallet which pays for a card. It begins PENDING and signs
nothing until its owner has said so. It ends with its binding to the card.`,
    states: cardFeature.states.delegatedKey,
  },
  {
    title: 'Provider account',
    about: `\`status\` of a platform's account at a provider of stablecoins. It begins ACTIVE, and is ACTIVE
again when it is linked anew.`,
    states: stablecoinFeature.states.providerAccount,
  },
  {
    title: 'Stablecoin',
    about: `\`issuanceStatus\` of a stablecoin. It begins where its provider has it when it is registered.`,
    states: stablecoinFeature.states.issuance,
  },
  {
    title: 'Service of a stablecoin',
    about: `\`serviceOperationsStatus\` of a stablecoin. It begins NOT_ENABLED. A platform requests, and all
else is the operator's; ENABLING becomes ENABLED once the token is provisioned.`,
    states: stablecoinFeature.states.service,
  },
  {
    title: 'Mint or burn',
    about: `\`status\` of a mint or burn. It begins CREATED, before it was handed to the provider.`,
    states: stablecoinFeature.states.operation,
  },
  {
    title: 'Message',
    about: `Status of an e-mail or a text message, as the operator sees it. It begins QUEUED. KEPT means that
the sandbox sent nothing and holds it for the operator to read.`,
    states: messageFeature.states.message,
  },
  {
    title: 'File',
    about: `A file that a client sends. It begins UPLOADING; what no operation keeps is GONE within the
hour, and so is what the operation that kept it lets go of. Storage forgets it next, and then the
row goes.`,
    states: fileStates,
  },
  {
    title: 'Job',
    about: `Work to do after a commit, as the operator sees it. It begins queued, and its row is removed in
the change set of its result. A job that failed too often is dead until an operator retries or
cancels it.`,
    states: jobStates,
  },
];

const edges = ({ transitions: moves }: Lifecycle): [string, string, string][] =>
  Object.entries(moves).flatMap(([from, to]) =>
    Object.entries(to).map(([event, next]): [string, string, string] => [
      from,
      event,
      String(next),
    ]),
  );

/** Padded, as the formatter of the documents wants it. */
function table(heads: string[], rows: string[][]): string {
  const widths = heads.map((head, at) =>
    Math.max(head.length, ...rows.map((row) => row[at]?.length ?? 0)),
  );
  const line = (cells: string[], by: string) =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0, by)).join(' | ')} |`;
  const rule = line(
    heads.map(() => ''),
    '-',
  );
  return [line(heads, ' '), rule, ...rows.map((row) => line(row, ' '))].join('\n');
}

function chapter({ title, about, states }: Chapter): string {
  const all = edges(states);
  const ends = Object.keys(states.transitions).filter((from) =>
    all.every(([each]) => each !== from),
  );
  const drawing = all.map(([from, event, to]) => `  ${from} --> ${to}: ${event}`);
  const rows = all.map(([from, event, to]) => [`\`${from}\``, event, `\`${to}\``]);
  const last = ends.map((state) => `\`${state}\``).join(', ');
  return [
    `## ${title}`,
    about,
    ['```mermaid', 'stateDiagram-v2', ...drawing, '```'].join('\n'),
    table(['From', 'Event', 'To'], rows),
    ends.length ? `Nothing leads out of ${last}.` : 'No state is the last.',
  ].join('\n\n');
}

const OPENING = `# Lifecycles

Made by \`npm run states\` from the tables that the server goes by; do not edit it. A change of a row
along any other way throws while it is staged (\`kernel/states.ts\`, \`runtime/db/table.ts\`), so it is
never committed.`;

/** The text of docs/states.md. */
export const statesPage = (): string => `${[OPENING, ...CHAPTERS.map(chapter)].join('\n\n')}\n`;
