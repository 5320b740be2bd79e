// Resources that an agent may use: external accounts of its customer, internal accounts that its
// policy allows, and its own quotes.
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import {
  type InternalAccountRow,
  internalAccountOf,
} from '../../balances/internal-accounts/index.ts';
import { externalAccountOf } from '../../payees/external-accounts/index.ts';
import { type QuoteRow, quoteOf } from '../../payments/quotes/index.ts';
import { forbidden } from '../deps.ts';
import { accountRejection, type Policy } from '../policy/policy.ts';
import type { AgentRow } from '../store.ts';

/** IDs of internal accounts that the policy allows, or null for all accounts of the customer. */
export const allowedAccountsOf = ({ policy }: { policy: Policy }): readonly string[] | null =>
  policy.accountRestrictions?.allowedAccountIds ?? null;

/** An internal or external account of the customer. Throws ACCOUNT_NOT_FOUND. */
export async function requireOwnAccount(
  ctx: Ctx,
  { customer_id: owner }: AgentRow,
  id: string,
): Promise<{ internalAccount?: InternalAccountRow }> {
  const row = await (isId(id, 'ExternalAccount') ? externalAccountOf : internalAccountOf)(ctx, id);
  if (row.customer_id !== owner) throw new Fault('ACCOUNT_NOT_FOUND', 'Account not found.');
  return isId(id, 'ExternalAccount') ? {} : { internalAccount: row as InternalAccountRow };
}

/** Throws ACCOUNT_NOT_FOUND, or FORBIDDEN for an internal account that the policy excludes. */
export async function checkUsable(ctx: Ctx, agent: AgentRow, id: string): Promise<void> {
  const { internalAccount } = await requireOwnAccount(ctx, agent, id);
  const allowedIds = allowedAccountsOf(agent);
  if (internalAccount && allowedIds && !allowedIds.includes(id))
    throw forbidden(accountRejection());
}

/** A quote of this agent. Throws QUOTE_NOT_FOUND. */
export async function requireOwnQuote(ctx: Ctx, agent: AgentRow, id: string): Promise<QuoteRow> {
  const quote = await quoteOf(ctx, id);
  if (quote.agent_id !== agent.id) throw new Fault('QUOTE_NOT_FOUND', 'Quote not found.');
  return quote;
}
