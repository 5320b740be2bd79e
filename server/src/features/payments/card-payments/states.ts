// The lifecycle of a card payment, as a table. An authorization is cleared in one or several
// clearings, and a clearing can be refunded. EXCEPTION: the network was paid, but the cardholder's
// account could not be debited. An operator resolves the exception.
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
  // A network can send a further clearing after the final clearing.
  SETTLED: { settle: 'SETTLED', refund: 'REFUNDED', except: 'EXCEPTION' },
  REFUNDED: { settle: 'SETTLED', reverse: 'SETTLED', except: 'EXCEPTION' },
  EXCEPTION: { resolve: 'SETTLED' },
});
