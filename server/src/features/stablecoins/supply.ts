// What mints and burns do to the books of a coin. Either is set aside when it is ordered, carried out when
// the provider has completed it and given back when it comes to nothing, so two floors hold at every moment
// and whoever orders at once: no more is burnt than circulates, and no more is issued than the books can
// count.
import type { FieldError } from '../../kernel/fault.ts';
import { Fault, invalid } from '../../kernel/fault.ts';
import type { Ctx, Movement } from '../../runtime/context.ts';
import { circulatingOf, issuedOf, unitOf } from './books.ts';
import { MOST_UNITS } from './judge.ts';
import type { StablecoinOperationRow } from './store.ts';

type Moved = Pick<StablecoinOperationRow, 'id' | 'type' | 'stablecoin_id' | 'amount'>;

const TOO_MUCH: FieldError = {
  field: 'amount',
  message: `would make more than ${MOST_UNITS} of it, with all mints under way`,
};

/** The step is named by what it is: `mint`, `burn`. */
function movementOf({ id, type, stablecoin_id, amount }: Moved): Movement {
  const [issued, circulating] = [issuedOf(stablecoin_id), circulatingOf(stablecoin_id)];
  const common = { transactionId: id, currency: unitOf(stablecoin_id), amount };
  return type === 'MINT'
    ? { ...common, step: 'mint', debit: issued, credit: circulating }
    : { ...common, step: 'burn', debit: circulating, credit: issued };
}

const moreThanCirculates = (): Fault =>
  new Fault(
    'STABLECOIN_PROVIDER_ERROR',
    'Less of the stablecoin circulates than is to be burnt, other burns under way left out.',
  );

/** When it is ordered; refused where there is not so much. */
export const setAside = (ctx: Ctx, row: Moved): void =>
  ctx.move('pending', {
    ...movementOf(row),
    short: () => (row.type === 'MINT' ? invalid([TOO_MUCH]) : moreThanCirculates()),
  });

/** When the provider has done it. */
export const carryOut = (ctx: Ctx, row: Moved): void => ctx.move('post', movementOf(row));

/** When it came to nothing. */
export const giveBack = (ctx: Ctx, row: Moved): void => ctx.move('release', movementOf(row));
