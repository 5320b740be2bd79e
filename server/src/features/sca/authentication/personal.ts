// Personal data in factors, enrollments, challenges and resets. An erasure removes all of it.
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { CUSTOMER_ROWS_SQL, type PersonalData } from '../../../runtime/operation/personal-data.ts';
import { eraseCodes } from '../../notifications/codes/index.ts';

const CODE_IDS_SQL = `select 'sca ' || id as id from sca_challenges where customer_id = $1`;

async function eraseChallengeCodes(runtime: Runtime, customerId: string): Promise<number> {
  const ids = await runtime.db.query<{ id: string }>(CODE_IDS_SQL, [customerId]);
  return eraseCodes(
    runtime,
    ids.map(({ id }) => id),
  );
}

export const scaPersonalData: PersonalData = {
  tables: {
    sca_factors: { rows: CUSTOMER_ROWS_SQL, without: ['facts', 'recovery'], erasure: 'removed' },
    sca_enrollments: { rows: CUSTOMER_ROWS_SQL, without: ['facts'], erasure: 'removed' },
    sca_challenges: { rows: CUSTOMER_ROWS_SQL, without: ['nonce'], erasure: 'removed' },
    sca_resets: { rows: CUSTOMER_ROWS_SQL, without: ['token_hash'], erasure: 'removed' },
  },
  empty: async (runtime, { id }) => ({ codes: await eraseChallengeCodes(runtime, id) }),
};
