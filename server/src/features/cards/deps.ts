// Dependencies of the operations on cards.

import type { IssuerPort } from '../../connectors/ports/cards.ts';
import type { Connectors } from '../../connectors/ports/index.ts';
import { Fault } from '../../kernel/fault.ts';
import { isId } from '../../kernel/id.ts';
import type { Mode } from '../../kernel/mode.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import { type CardRow, cards } from './store.ts';

export interface CardDeps {
  connectors(environment: Mode): Connectors;
  /** Base URL of links to pages of this server. */
  origin(): string;
  /** Logs a problem that only an operator can fix. */
  reportProblem?(problem: string): void;
}

export const noIssuer = () =>
  new Fault(
    'NOT_IMPLEMENTED',
    'No card issuer is configured for this platform. The operator can add one.',
  );

/** The card issuer of the calling platform. Throws NOT_IMPLEMENTED without a card issuer. */
export function issuerOf(ctx: Ctx, deps: Pick<CardDeps, 'connectors'>): IssuerPort {
  const { issuer } = deps.connectors(ctx.caller.environment);
  if (!issuer) throw noIssuer();
  return issuer;
}

/** A card of the calling platform. Throws NOT_FOUND. */
export async function cardOf(ctx: Ctx, id: string): Promise<CardRow> {
  const row = isId(id, 'Card') ? await ctx.read(cards, id) : undefined;
  if (row?.platform_id !== ctx.caller.platformId) throw new Fault('NOT_FOUND', 'Card not found.');
  return row;
}
