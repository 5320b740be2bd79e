// What an export shows of the messages to a customer. An erasure empties them.
import { OF_CUSTOMER, type PersonalData, rowAs } from '../../../runtime/operation/personal-data.ts';
import { eraseMessages } from './send.ts';
import { type MessageRow, openMessage } from './store.ts';

export const messagePersonalData: PersonalData = {
  tables: {
    messages: {
      rows: OF_CUSTOMER,
      without: ['recipient', 'content'],
      open: ({ vault, key }, row) => ({ ...openMessage(vault, key, rowAs<MessageRow>(row)) }),
      erasure: 'emptied',
      atOnce: true,
    },
  },
  forget: (ctx, { id }) => eraseMessages(ctx, id),
};
