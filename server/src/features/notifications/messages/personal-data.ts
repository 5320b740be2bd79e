// Messages in the personal data export of a customer. An erasure clears their recipient and
// content.
import {
  CUSTOMER_ROWS_SQL,
  type PersonalData,
  rowAs,
} from '../../../runtime/operation/personal-data.ts';
import { eraseMessages } from './send.ts';
import { type MessageRow, openMessage } from './store.ts';

export const messagePersonalData: PersonalData = {
  tables: {
    messages: {
      rows: CUSTOMER_ROWS_SQL,
      without: ['recipient', 'content'],
      open: ({ vault, key }, row) => ({ ...openMessage(vault, key, rowAs<MessageRow>(row)) }),
      erasure: 'emptied',
      atOnce: true,
    },
  },
  erase: (ctx, { id }) => eraseMessages(ctx, id),
};
