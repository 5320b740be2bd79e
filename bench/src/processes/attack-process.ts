// Runs one attack at a time in a separate process, so that the bench and the measured payments are not
// delayed.
import { serveJobs } from '../machine/worker-channel.ts';
import { type Attack, type RunningAttack, startAttack } from './attack.ts';

let runningAttack: RunningAttack | undefined;

serveJobs({
  start: (attack: Attack) => {
    runningAttack = startAttack(attack);
  },
  stop: () => runningAttack?.stop(),
});
