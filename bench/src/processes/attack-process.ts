// Runs one attack at a time in a separate process, so that it delays neither the bench nor the
// measured payments.
import { serveJobs } from '../machine/worker-channel.ts';
import { type Attack, type RunningAttack, startAttack } from './attack.ts';

let running: RunningAttack | undefined;

serveJobs({
  start: (attack: Attack) => {
    running = startAttack(attack);
  },
  stop: () => running?.stop(),
});
