/** A hand-over that was not made: `leave` said that the part, or the e-mail, must not leave. */
export interface Withheld {
  kind: 'withheld';
}
