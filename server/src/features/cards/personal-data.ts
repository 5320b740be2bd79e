// Personal data of cards. An export lists the cards. An erasure closes them and removes their
// numbers and `platformCardId`. It also removes the merchants from network messages.
import {
  CUSTOMER_ROWS_SQL,
  changedRows,
  ERASED,
  type PersonalData,
  rowAs,
} from '../../runtime/operation/personal-data.ts';
import { delegatedKeyPersonal } from './delegated-keys/delegated-keys.ts';
import { closeOneCard } from './issuing/issue-jobs.ts';
import type { DelegatedKeyRow } from './store.ts';

const ERASE_CARDS_SQL = `update cards
  set secret = null, last4 = null, exp_month = null, exp_year = null,
    platform_card_id = '${ERASED} ' || id, version = version + 1
  where customer_id = $1 and platform_card_id <> '${ERASED} ' || id returning id`;
const ERASE_MERCHANTS_SQL = `update card_messages set merchant = null
  where customer_id = $1 and json_typeof(merchant) = 'object' returning id`;

/** Export and erasure process cards after payments. */
export const cardPersonalData: PersonalData = {
  tables: {
    cards: { rows: CUSTOMER_ROWS_SQL, without: ['secret'], erasure: 'emptied' },
    card_funding_sources: {
      rows: CUSTOMER_ROWS_SQL,
      erasure: { retained: 'account ID and card ID of a funding source' },
    },
    delegated_keys: {
      rows: CUSTOMER_ROWS_SQL,
      without: ['signer'],
      open: (opener, row) => delegatedKeyPersonal(opener, rowAs<DelegatedKeyRow>(row)),
      erasure: 'removed',
    },
    card_messages: { rows: CUSTOMER_ROWS_SQL, erasure: 'emptied' },
    card_reveals: {
      rows: CUSTOMER_ROWS_SQL,
      without: ['id'],
      erasure: { retained: 'token and time of a request for card details' },
    },
  },
  subjects: { cards: 'customer_id = $1' },
  end: closeOneCard,
  empty: async ({ db }, { id }) => ({
    cards: await changedRows(db, ERASE_CARDS_SQL, [id]),
    // A decision or notice requires the row of its customer or payment, so none is inserted after
    // this change.
    card_messages: await changedRows(db, ERASE_MERCHANTS_SQL, [id]),
  }),
};
