// Row 7: authorization of a card payment, with the hold and all records in one commit. The peer makes the
// same decision in one interactive transaction per request. Both sides run in the process that decides,
// with the same number of requests in flight. Approvals are compared with the database afterwards.

import type { AuthorizationLoad, CardApprovals } from '../../machine/authorization-load.ts';
import type { Bench } from '../../machine/bench.ts';
import { startWorker, type Worker } from '../../machine/children.ts';
import { databaseUrl } from '../../machine/cluster.ts';
import { familyOf, watchProcessor } from '../../machine/proc.ts';
import { BENCH_PROVIDER } from '../../machine/provider-message.ts';
import type { AuthorizationPeerOptions } from '../../processes/authorization-peer-process.ts';
import type { AuthorizationOptions } from '../../processes/authorization-process.ts';
import { alternate, bestOf, printProgress, type Row, sideOf } from '../../table/row.ts';
import type { Run } from '../../table/stats.ts';
import { CARDS_DATABASE, type Cards, createCards, PEER_CARDS_DATABASE } from './authorize-cards.ts';

/** Decisions in flight at any time, and the p99 target for them. */
const IN_FLIGHT = 64;
const MAX_P99_MS = 100;

type Kind = 'spread' | 'hot' | 'wallets' | 'messages';

/** Compares approvals by card with all their records. One cent is 10,000 units of a wallet. */
const CHECK = `with approval_sums as (
    select id, count, amount, funding->>0 as account
      from unnest($1::text[], $2::bigint[], $3::bigint[]) x(id, count, amount)
      join cards using (id)),
  message_sums as (
    select card_id as id, count(*), sum(amount) as amount,
      count(distinct transaction_id) as payments,
      count(*) filter (where not approved) as declined
    from card_messages group by card_id),
  payment_sums as (
    select card->>'cardId' as id, count(*), sum(card_authorized) as amount,
      sum(sent_amount) as units
    from transactions where type = 'CARD' and status = 'AUTHORIZED' group by 1),
  ledger_sums as (
    select account, sum(net) as net, sum(hold) as hold from (
      select debit as account, case phase when 'posted' then -amount else 0 end as net,
        case phase when 'pending' then amount else 0 end as hold from ledger_transfers
      union all select credit, amount, 0 from ledger_transfers where phase = 'posted') legs
    group by 1),
  expected_holds as (
    select account, sum(amount * case currency when 'USD' then 1 else 10000 end) as hold
    from approval_sums join ledger_accounts a on a.id = account group by 1, currency)
select (select sum(count) from approval_sums) as approved,
  (select count(*) from approval_sums full join message_sums l using (id)
    where l.declined is distinct from 0
      or l.count is distinct from approval_sums.count
      or l.payments is distinct from approval_sums.count
      or l.amount is distinct from approval_sums.amount) as wrong_messages,
  (select count(*) from approval_sums full join payment_sums p using (id)
    where p.count is distinct from approval_sums.count
      or p.amount is distinct from approval_sums.amount) as wrong_payments,
  (select count(*) from ledger_accounts a left join ledger_sums m on m.account = a.id
    left join expected_holds o on o.account = a.id
    where a.balance <> coalesce(m.net, 0) or a.held <> coalesce(m.hold, 0)
      or a.held <> coalesce(o.hold, 0) or a.balance - a.held < a.floor) as wrong_balances,
  (select count(*) from (select currency from ledger_accounts
    group by currency having sum(balance) <> 0) unbalanced) as unbalanced,
  (select abs(count(*) - (select sum(count) from approval_sums)) from jobs
    where kind = 'cards.funding-debit') as wrong_jobs,
  (select abs(count(*) - (select sum(count) from approval_sums)) from events
    where type = 'CARD_TRANSACTION.AUTHORIZED') as wrong_events,
  (select abs(count(*) - (select count(*) from card_messages
      where id like 'sandbox ${BENCH_PROVIDER}/%'))
    from provider_messages where result = 'APPLIED') as wrong_stored,
  (select abs(count(distinct w.subject) - (select coalesce(sum(count), 0) from approval_sums
      join internal_accounts i on i.id = account where i.type = 'EMBEDDED_WALLET'))
    from wallet_authorizations w where w.operation = 'cardPull') as wrong_signatures`;

/** Compares the database with the approvals. Any difference is an error. */
async function countDifferences(bench: Bench, name: string, handler: Worker): Promise<number> {
  const cardApprovals = await handler.call<CardApprovals[]>('approved');
  const columns = [
    cardApprovals.map(({ cardId }) => cardId),
    cardApprovals.map(({ count }) => count),
    cardApprovals.map(({ amount }) => amount),
  ];
  const [row] = await bench.cluster.rows<Record<string, string>>(name, CHECK, columns);
  const { approved, ...differenceCounts } = row ?? {};
  const counts = Object.entries(differenceCounts).map(
    ([kind, count]) => `${count} ${kind.replace('_', ' ')}`,
  );
  printProgress(
    `${name}: ${approved} approved on ${cardApprovals.length} cards; ${counts.join(', ')}`,
  );
  return Object.values(differenceCounts).reduce((sum, count) => sum + Number(count), 0);
}

interface RowContext {
  bench: Bench;
  cards: Cards;
  /** Processes whose processor time is printed after each run. */
  groups: Record<string, () => number[]>;
}

/** Sends requests for one kind of card to a handler for a number of seconds. */
const requestSender =
  ({ bench, cards, groups }: RowContext, handler: Worker) =>
  async (kind: Kind, seconds = bench.settings.seconds): Promise<Run> => {
    await bench.cluster.checkpoint();
    const { accountCards, walletCards } = cards;
    const cardsByKind = {
      spread: accountCards,
      hot: accountCards.slice(0, 1),
      wallets: walletCards,
      messages: accountCards,
    };
    const processorUse = watchProcessor(groups);
    const { warmupMs } = bench.settings;
    const options: AuthorizationLoad = {
      cards: cardsByKind[kind],
      callers: IN_FLIGHT,
      warmupMs,
      seconds,
      isSigned: kind === 'messages',
    };
    const run = await handler.call<Run>('run', options);
    printProgress(processorUse.report(run.completedCount));
    return run;
  };

/** The interactive peer with the pool size at which it is fastest. */
async function preparePeer(context: RowContext, peer: Worker) {
  const { bench, cards } = context;
  const { platformId, dataDir } = cards;
  const url = databaseUrl(bench.cluster.url, PEER_CARDS_DATABASE);
  const openPeer = (poolSize: number) =>
    peer.call('open', { url, dataDir, poolSize, platformId } satisfies AuthorizationPeerOptions);
  const authorize = requestSender(context, peer);
  const choices = bench.quick ? [16] : [16, 32, 64];
  const bestPoolSize = await bestOf('interactive, pool', choices, async (size) => {
    await openPeer(size);
    return authorize('spread', bench.settings.tuningSeconds);
  });
  await openPeer(bestPoolSize);
  return { name: `interactive, pool ${bestPoolSize}, ${IN_FLIGHT}`, authorize };
}

export async function authorizeRows(bench: Bench): Promise<Row[]> {
  const handler = startWorker('authorization', { profile: bench.profile });
  const peerHandler = startWorker('authorization-peer');
  const cards = await createCards(bench, handler);
  const url = databaseUrl(bench.cluster.url, CARDS_DATABASE);
  await handler.call('open', { url, dataDir: cards.dataDir } satisfies AuthorizationOptions);
  const groups = {
    handler: () => [handler.pid],
    interactive: () => [peerHandler.pid],
    PostgreSQL: () => familyOf(bench.cluster.pid),
  };
  const context = { bench, cards, groups };
  const peer = await preparePeer(context, peerHandler);
  const authorize = requestSender(context, handler);
  const runs = await alternate(
    {
      'handler, spread': () => authorize('spread'),
      'interactive, spread': () => peer.authorize('spread'),
      'handler, hot': () => authorize('hot'),
      'interactive, hot': () => peer.authorize('hot'),
      'handler, wallets': () => authorize('wallets'),
      'interactive, wallets': () => peer.authorize('wallets'),
      'handler, messages': () => authorize('messages'),
      'interactive, messages': () => peer.authorize('messages'),
    },
    bench.settings.rounds,
  );
  const wrongCount = await countDifferences(bench, CARDS_DATABASE, handler);
  const wrongPeerCount = await countDifferences(bench, PEER_CARDS_DATABASE, peerHandler);
  for (const child of [handler, peerHandler]) {
    await child.call('close');
    await child.stop();
  }
  const side = (name: string, runs: readonly Run[], extraErrors: number) => {
    const side = sideOf(name, runs);
    return { ...side, errors: side.errors + extraErrors };
  };
  const row = (id: string, subject: string, kind: Kind): Row => ({
    id,
    label: `authorize a card payment, ${subject}`,
    unit: '/s',
    railhead: side(`handler, ${IN_FLIGHT} in flight`, runs[`handler, ${kind}`], wrongCount),
    peer: side(peer.name, runs[`interactive, ${kind}`], wrongPeerCount),
    maxP99Ms: MAX_P99_MS,
  });
  const formatCount = (count: number) => count.toLocaleString('en-US');
  return [
    row('7a', `${formatCount(cards.accountCards.length)} cards and accounts`, 'spread'),
    row('7b', 'one hot card and account', 'hot'),
    row('7c', `${formatCount(cards.walletCards.length)} wallets with delegated keys`, 'wallets'),
    row('7d', 'through a signed message of a provider', 'messages'),
  ];
}
