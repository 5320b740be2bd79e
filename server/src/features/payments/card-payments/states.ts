// The life of a payment with a card, as a table. What was authorised is cleared in one piece or several; what
// was cleared may come back. EXCEPTION is where the network has its money and we have not got ours: a person
// decides how that ends.
import { stateTable } from '../../../kernel/states.ts';

export const CARD_STATUSES = [
  'AUTHORIZED',
  'PARTIALLY_SETTLED',
  'SETTLED',
  'REFUNDED',
  'EXCEPTION',
] as const;
export type CardStatus = (typeof CARD_STATUSES)[number];

export type CardEvent = 'clear' | 'settle' | 'refund' | 'reverse' | 'except' | 'resolve';

export const cardPaymentStates = stateTable<CardStatus, CardEvent>('card payment', {
  AUTHORIZED: { clear: 'PARTIALLY_SETTLED', settle: 'SETTLED', except: 'EXCEPTION' },
  PARTIALLY_SETTLED: {
    clear: 'PARTIALLY_SETTLED',
    settle: 'SETTLED',
    refund: 'REFUNDED',
    except: 'EXCEPTION',
  },
  // A network may clear once more what it had finished with.
  SETTLED: { settle: 'SETTLED', refund: 'REFUNDED', except: 'EXCEPTION' },
  REFUNDED: { settle: 'SETTLED', reverse: 'SETTLED', except: 'EXCEPTION' },
  EXCEPTION: { resolve: 'SETTLED' },
});
