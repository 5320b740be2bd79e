// What is an agent's to use: accounts of its customer, and of the internal ones those that its policy allows;
// quotes that it made itself.
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import {
  type InternalAccountRow,
  internalAccountOf,
} from '../../balances/internal-accounts/index.ts';
import { externalAccountOf } from '../../payees/external-accounts/index.ts';
import { type QuoteRow, quoteOf } from '../../payments/quotes/index.ts';
import { forbidden } from '../parts.ts';
import { notItsAccount, type Policy } from '../policy/policy.ts';
import type { AgentRow } from '../store.ts';

/** The internal accounts that a policy names; null where it may use all of its customer. */
export const allowedAccounts = ({ policy }: { policy: Policy }): readonly string[] | null =>
  policy.accountRestrictions?.allowedAccountIds ?? null;

/** An account of the agent's customer, inside or outside; ACCOUNT_NOT_FOUND for any other id. */
export async function ownAccount(
  ctx: Ctx,
  { customer_id: owner }: AgentRow,
  id: string,
): Promise<{ inside?: InternalAccountRow }> {
  const row = await (isId(id, 'ExternalAccount') ? externalAccountOf : internalAccountOf)(ctx, id);
  if (row.customer_id !== owner) throw new Fault('ACCOUNT_NOT_FOUND', 'No such account.');
  return isId(id, 'ExternalAccount') ? {} : { inside: row as InternalAccountRow };
}

/** Throws as well for an internal account that the policy leaves out. */
export async function checkUsable(ctx: Ctx, agent: AgentRow, id: string): Promise<void> {
  const { inside } = await ownAccount(ctx, agent, id);
  const allowed = allowedAccounts(agent);
  if (inside && allowed && !allowed.includes(id)) throw forbidden(notItsAccount());
}

/** A quote that this agent made; QUOTE_NOT_FOUND for any other id. */
export async function ownQuote(ctx: Ctx, agent: AgentRow, id: string): Promise<QuoteRow> {
  const quote = await quoteOf(ctx, id);
  if (quote.agent_id !== agent.id) throw new Fault('QUOTE_NOT_FOUND', 'No such quote.');
  return quote;
}
