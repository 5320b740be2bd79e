// Consequences of a dead job by kind, printed by the operator commands and listed in docs/jobs.md.
// They become permanent when the job is canceled. Held funds remain held. Retries are
// idempotent, because every instruction has a unique ID.
import { presentKindOf } from '../../kernel/contract/job.ts';
import type { WaitKind } from '../payments/suspense/index.ts';

/** Consequence by kind of job. A test compares the kinds with the handlers of the server. */
export const PENDING_EFFECTS: Readonly<Record<string, string>> = {
  'payout.send':
    'The payout remains PROCESSING with its funds held. Whether the rail has it is unknown.',
  'payout.check': 'The payout keeps its status. Its result is not requested from the rail.',
  'payout.cancel': 'The request to cancel the payout has no result. The payout continues.',
  'refund.pay': 'The refund remains PENDING and its funds remain held.',
  'funding.send': 'The payment waits for its debit. Whether the rail has the debit is unknown.',
  'funding.check': 'The payment waits. The result of its debit is not requested from the rail.',
  'funding.cancel': 'The request to cancel the payment has no result. Its debit continues.',
  'quotes.redeem':
    'The currencies are not exchanged at the held rate. The FX position of the payment stays open.',
  'payouts.recall': 'The return of a payout is not requested, or its result is not read.',
  'quotes.expire': 'The payment of an expired quote remains PENDING.',
  'quotes.expire-authorization': 'A payment that was not authorized in time remains PENDING.',
  'incoming.request-approval': 'The approval request is not sent. The UMA payment remains PENDING.',
  'incoming.expire':
    'The UMA payment remains PENDING although its platform did not respond in time.',
  'incoming.collect': 'The approved UMA payment is not collected from the provider of its sender.',
  'incoming.forward': 'The received funds remain held and are not forwarded to the account.',
  'incoming.debit': 'The debit is neither sent nor checked. Whether the rail has it is unknown.',
  'incoming.cancel': 'The request to cancel the debit has no result. The debit continues.',
  'incoming.return': 'The return remains PENDING and its funds remain held.',
  'incoming.review-expiry': 'The held deposit is not returned after 30 days.',
  'wallet.declared': 'Deposits that wait for the declared wallet remain held.',
  'accounts.backfill': 'Some customers have no account in a currency that was added.',
  'accounts.funding':
    'A new account has no instructions for deposits. An existing account keeps its instructions.',
  'accounts.activate': 'New accounts remain PENDING.',
  'invitations.notify-claimed': 'The inviting platform receives no event about the claim.',
  'external-account.name': 'The result of the name check remains PENDING.',
  'ownership.liveness': 'The ownership check remains PENDING until its challenge expires.',
  'sca.expire-reset':
    'The factor reset is still shown as open. It can no longer be used after its expiry.',
  'verification.check': 'The verification remains in review. An operator can decide it.',
  'messages.send': 'The e-mail remains QUEUED and is not sent.',
  'messages.send-sms': 'The text message remains QUEUED and is not sent.',
  'agents.end': 'Agents of the deleted customer are still listed. Their tokens are rejected.',
  'stablecoins.submit':
    'The mint or burn remains CREATED with its funds held. Whether the provider has it is unknown.',
  'stablecoins.check': 'The mint or burn keeps its status. Its result is not requested.',
  'stablecoins.follow': 'The state of the token is not requested from its provider.',
  'stablecoins.enable': 'The provisioned token is not enabled.',
  'cards.issue': 'The card remains PROCESSING. Whether the issuer has the order is unknown.',
  'cards.check': 'The card remains PROCESSING. Its state is not requested from the issuer.',
  'cards.change':
    'The issuer is not notified of the new state of the card. Authorizations use the new state.',
  'cards.close': 'Some cards of the deleted customer are still open at their issuer.',
  'cards.funding-debit':
    'The funding debit of a card payment remains PENDING and its funds remain held.',
  'cards.expire': 'The card payment remains open, although its network sends no more messages.',
  'wallets.settle': 'The signed request remains PROCESSING until its client sends it again.',
  'wallets.recover': 'The account recovery remains WAITING.',
  'statements.fetch':
    'The statement of the day is not requested. `providers reconcile` requests it again.',
  'statements.reconcile':
    'The received statement is not compared. `providers reconcile` compares it.',
  'webhooks.replay': 'The replay remains PROCESSING and sends no more events.',
  'files.remove': 'The object remains in storage, encrypted and without a reference.',
  'fixtures.build':
    'The sandbox data is incomplete. It can be created again after a reset of the platform.',
  'imports.slice': 'The import stops at its current row.',
};

/** The consequence for a kind. An earlier or later release can have other kinds. */
export const pendingEffectOf = (kind: string): string =>
  PENDING_EFFECTS[presentKindOf(kind)] ??
  'The consequence is unknown, because this release does not have this kind of job.';

/** The transfer that a job of this kind sends or follows. */
export const TRANSFER_OF: Readonly<Record<string, WaitKind>> = {
  'payout.send': 'payout',
  'payout.check': 'payout',
  'refund.pay': 'refund',
  'funding.send': 'debit',
  'funding.check': 'debit',
  'incoming.collect': 'debit',
  'incoming.debit': 'debit',
  'incoming.forward': 'payout',
  'incoming.return': 'refund',
};
