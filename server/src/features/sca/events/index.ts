// Public interface of SCA events.
import type { Feature } from '../../../runtime/operation/feature.ts';
import {
  CUSTOMER_ROWS_SQL,
  type PersonalData,
  rowAs,
} from '../../../runtime/operation/personal-data.ts';
import { type ScaEventRow, scaEventPersonal } from './events.ts';

export {
  listScaEvents,
  type OperatorCause,
  recordScaEvent,
  type ScaEventDetails,
  type ScaEventType,
} from './events.ts';

/** An erasure keeps the events. Without the customer's key their IP addresses are unreadable. */
const personalData: PersonalData = {
  tables: {
    sca_events: {
      rows: CUSTOMER_ROWS_SQL,
      open: (opener, row) => scaEventPersonal(opener, rowAs<ScaEventRow>(row)),
      erasure: { retained: 'event, factor and time. The IP address is sealed under a deleted key' },
    },
  },
};

/** Operations, jobs and other parts that this feature adds to a server. */
export const scaEventFeature = { personalData } satisfies Feature;
