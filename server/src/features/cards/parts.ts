// What the operations of cards are made with.

import type { IssuerPort } from '../../connectors/ports/cards.ts';
import type { Connectors } from '../../connectors/ports/index.ts';
import { Fault } from '../../kernel/fault.ts';
import { isId } from '../../kernel/id.ts';
import type { Mode } from '../../kernel/mode.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import { type CardRow, cards } from './store.ts';

export interface CardParts {
  connectors(environment: Mode): Connectors;
  /** What links to pages of this server begin with. */
  origin(): string;
  /** Told in a sentence what an operator should know of, and nobody who pays can mend. */
  note?(problem: string): void;
}

/** Who issues the calling platform's cards. */
export function issuerOf(ctx: Ctx, parts: Pick<CardParts, 'connectors'>): IssuerPort {
  const { issuer } = parts.connectors(ctx.caller.environment);
  if (!issuer) throw new Fault('NOT_IMPLEMENTED', 'Nobody issues cards here.');
  return issuer;
}

/** A card of the calling platform; NOT_FOUND for every other id. */
export async function cardOf(ctx: Ctx, id: string): Promise<CardRow> {
  const row = isId(id, 'Card') ? await ctx.read(cards, id) : undefined;
  if (row?.platform_id !== ctx.caller.platformId) throw new Fault('NOT_FOUND', 'Card not found.');
  return row;
}
