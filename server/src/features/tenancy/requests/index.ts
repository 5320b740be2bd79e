// Public interface of recorded requests.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { type RequestPorts, requestOperations } from './operations.ts';

export {
  type BodyRetention,
  keepRequestBodies,
  listRequestsByOperator,
  pageOfRequestsByOperator,
  pageOfRequestsOfPlatforms,
  requestByOperator,
} from './by-operator.ts';
export { ApiRequest, getRequestById, listRequests } from './contract.ts';
export { type ReadsRow, requestsOf } from './reads.ts';
export { createRequestRecorder } from './recorder.ts';

/** Parts that this feature adds to a server. */
export const requestFeature = {
  operations: requestOperations,
  // A reset retains the requests of the platform, including the request of the reset.
  reset: {
    retained: { api_requests: 'true', api_request_bodies: 'true', api_request_reads: 'true' },
  },
} satisfies Feature<RequestPorts>;
