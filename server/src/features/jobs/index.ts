// Public interface of the operator's job management.
export { readQueues } from '../../runtime/jobs/job-metrics.ts';
export { JOB_STATES, listJobs } from '../../runtime/jobs/job-review.ts';
export {
  cancelJob,
  type JobDetails,
  jobDetails,
  pageOfJobs,
  retryDeadJobs,
  retryJob,
} from './by-operator.ts';
