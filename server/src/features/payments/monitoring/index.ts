// Payments and quotes of all platforms for the operator, without personal data, and payment
// metrics.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { metricsSweep } from './metrics-sweep.ts';

export { BUCKETS, GROUPS, MAX_BUCKETS, paymentMetrics, paymentsOfAmount } from './metrics.ts';
export { recountPayments } from './metrics-sweep.ts';
export { paymentCounter } from './payment-counter.ts';
export { pageOfPayments, paymentById } from './payments.ts';
export { pageOfQuotes } from './quotes.ts';

/** Parts that this feature adds to a server. */
export const monitoringFeature = {
  sweeps: () => [metricsSweep()],
} satisfies Feature;
