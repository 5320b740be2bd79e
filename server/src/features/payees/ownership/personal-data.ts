// Export and erasure of pending ownership challenges. An erasure removes them.
import type { PersonalData } from '../../../runtime/operation/personal-data.ts';

export const ownershipPersonalData: PersonalData = {
  tables: {
    ownership_challenges: {
      rows: 't.id in (select id from external_accounts where customer_id = $1)',
      without: ['nonce', 'token_hash'],
      erasure: 'removed',
    },
  },
};
