// Public interface of job operations for the operator.
export { JOB_STATES, listJobs } from '../../runtime/jobs/job-review.ts';
export {
  cancelJob,
  type JobDetails,
  jobDetails,
  pageOfJobs,
  retryDeadJobs,
  retryJob,
} from './by-operator.ts';
