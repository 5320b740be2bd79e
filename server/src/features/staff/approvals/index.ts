// Public interface of approvals by a second person.

import type { Feature } from '../../../runtime/operation/feature.ts';
import { CUSTOMER_ROWS_SQL, type PersonalData } from '../../../runtime/operation/personal-data.ts';
import { sealedApprovalColumns } from './approvals.ts';
import { approvalStates } from './store.ts';

export {
  approvalDetails,
  isApprovalNeeded,
  listApprovals,
  type NeededApproval,
  prepareApproved,
  type RightsOfRequester,
  rejectApproval,
  requestApproval,
  requirePolicies,
} from './approvals.ts';
export { createPolicy, listPolicies, type NewPolicy, removePolicy } from './policies.ts';

const personalData: PersonalData = {
  tables: {
    operator_approvals: {
      rows: CUSTOMER_ROWS_SQL,
      without: ['request', 'changes', 'digest', 'change_key'],
      erasure: {
        retained:
          'decisions and their operators. Request and changes are sealed under a deleted key',
      },
    },
  },
};

/** Parts that this feature adds to a server. */
export const approvalFeature = {
  sealed: sealedApprovalColumns,
  personalData,
  states: { approval: approvalStates },
  reset: { retained: { operator_approvals: 'true', operator_approval_policies: 'true' } },
} satisfies Feature;
