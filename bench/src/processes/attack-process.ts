// One attack at a time, in a separate process, so that it delays neither the bench nor the payments
// that are measured beside it.
import { answer } from '../machine/answer.ts';
import { type Attack, type RunningAttack, startAttack } from './attack.ts';

let running: RunningAttack | undefined;

answer({
  start: (attack: Attack) => {
    running = startAttack(attack);
  },
  stop: () => running?.stop(),
});
