// The names of the jobs that follow incoming money, apart from their handlers because the steps that stage
// them come before those. A name is kept in rows, so it never changes its meaning.

/** Asks the platform whether its customer may be paid. */
export const ASK = 'incoming.ask';
/** The time a platform took for its answer is over. */
export const LAPSE = 'incoming.lapse';
/** Fetches an approved payment from the sender's provider. */
export const COLLECT = 'incoming.collect';
/** Sends an arrived payment on to an account outside. */
export const PASS_ON = 'incoming.pass-on';
/** Takes money from an account outside. */
export const PULL = 'incoming.pull';
/** Sends money back to whoever paid it in. */
export const SEND_BACK = 'incoming.send-back';
/** A deposit has been held for as long as it may be. */
export const HELD_LONG = 'incoming.held-long';
